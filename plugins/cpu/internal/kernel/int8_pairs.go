package kernel

import "unsafe"

// Without assembly two channels share a product of 64 bits. The weights a and b of both are one number,
// and for a byte x
//
//	x * (a + b<<32) = x*a + (x*b)<<32
//
// so a sum of such products has both sums, modulo 2^32 each: the lower half is the first, and the
// upper half, without the borrow of a negative lower half, is the second. Four positions by two pairs
// fit the registers of most machines, and a compiler of WebAssembly keeps their variables in registers.

// pairChannels is the number of channels that are computed at once: two pairs.
const pairChannels = 4

// pairSums are the sums of a position for two pairs of channels.
type pairSums [2]int64

// pairs computes the sums of positions [from, to) for a column of as many channels as lanes.
func (c *int8Call) pairs(weights []int8, column, lanes, channel, from, to int) {
	n := c.Taps * c.Run
	if len(c.spare.pairs) < n {
		c.spare.pairs = make([][2]int64, n)
	}
	w := c.spare.pairs[:n]
	for at := 0; at < lanes; at += pairChannels {
		c.pair(w, weights, at*quadLen, lanes*quadLen)
		start := c.Start[channel+at:][:pairChannels]
		for p := from; p < to; {
			var s [4]pairSums
			count := 4
			if to-p < 4 {
				count = 1
				c.addPosition(&s[0], w, p)
			} else {
				c.four(&s, w, p)
			}
			for i := range count {
				s[i].add((*[pairChannels]int32)(c.spare.sums[(p-from+i)*PanelLanes+column+at:]), start)
			}
			p += count
		}
	}
}

// pair sets w to the weights of four channels by tap and value. first is the first weight of these
// channels, and step is the number of weights of a quad of all channels.
func (c *int8Call) pair(w [][2]int64, weights []int8, first, step int) {
	i := 0
	for t := range c.Taps {
		for k := range c.Run {
			q := weights[first+(t*c.quads()+k/quadLen)*step+k%quadLen:][:3*quadLen+1]
			w[i] = [2]int64{int64(q[0]) + int64(q[quadLen])<<32, int64(q[2*quadLen]) + int64(q[3*quadLen])<<32}
			i++
		}
	}
}

// add sets the sums of four channels to their initial values plus the sums in s.
func (s *pairSums) add(sums *[pairChannels]int32, start []int32) {
	for i, v := range s {
		low := int32(v)
		sums[2*i] = start[2*i] + low
		sums[2*i+1] = start[2*i+1] + int32((v-int64(low))>>32)
	}
}

// runOf returns the values that tap t reads at position p.
func (c *int8Call) runOf(t, p int) []uint8 {
	if o := int(c.Int8.in[t*len(c.Out)+p]); o >= 0 {
		return c.in[o:][:c.Run]
	}
	return c.pad[:c.Run]
}

// addPosition computes the sums of one position.
func (c *int8Call) addPosition(s *pairSums, w [][2]int64, p int) {
	var a, b int64
	for t := range c.Taps {
		row := w[t*c.Run:]
		for k, v := range c.runOf(t, p) {
			a += int64(v) * row[k][0]
			b += int64(v) * row[k][1]
		}
	}
	*s = pairSums{a, b}
}

// four computes the sums of four positions.
func (c *int8Call) four(s *[4]pairSums, w [][2]int64, p int) {
	var a0, a1, a2, a3, b0, b1, b2, b3 int64
	for t := range c.Taps {
		row := w[t*c.Run:][:c.Run]
		x0, x1, x2, x3 := bytesOf(c.runOf(t, p)), bytesOf(c.runOf(t, p+1)), bytesOf(c.runOf(t, p+2)),
			bytesOf(c.runOf(t, p+3))
		for k := range row { // each of the four pointers points to len(row) bytes
			a, b := row[k][0], row[k][1]
			v := int64(*(*uint8)(unsafe.Add(x0, k)))
			a0, b0 = a0+v*a, b0+v*b
			v = int64(*(*uint8)(unsafe.Add(x1, k)))
			a1, b1 = a1+v*a, b1+v*b
			v = int64(*(*uint8)(unsafe.Add(x2, k)))
			a2, b2 = a2+v*a, b2+v*b
			v = int64(*(*uint8)(unsafe.Add(x3, k)))
			a3, b3 = a3+v*a, b3+v*b
		}
	}
	*s = [4]pairSums{{a0, b0}, {a1, b1}, {a2, b2}, {a3, b3}}
}

func bytesOf(x []uint8) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
