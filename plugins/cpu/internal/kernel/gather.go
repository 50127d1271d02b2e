package kernel

import "slices"

// Order has the offsets of the weights of an output channel. Value i has its weight at offsets[i], in
// values, from the first weight of the channel. If offsets[i] is negative, the value has no weight.
type Order struct {
	offsets []int
	number  []int32 // for each value in the order of memory: its number
	run     int     // number of values that are contiguous, the same in every run
}

// NewOrder returns the order of weights with these offsets.
func NewOrder(offsets []int) Order {
	to := make([]int32, 0, len(offsets))
	for i, a := range offsets {
		if a >= 0 {
			to = append(to, int32(i))
		}
	}
	slices.SortStableFunc(to, func(i, j int32) int { return offsets[i] - offsets[j] })
	return Order{offsets, to, runOf(offsets, to)}
}

// runOf returns the largest length such that the values in positions are contiguous runs of this length.
func runOf(offsets []int, positions []int32) int {
	run, first := len(positions), 0
	for i := 1; i < len(positions); i++ {
		if offsets[positions[i]] == offsets[positions[i-1]]+1 {
			continue
		}
		run = divisor(run, i-first)
		first = i
	}
	return divisor(run, len(positions)-first)
}

// divisor returns the greatest common divisor. For n and 0 it is n.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// gatherKernels is the assembly for blocks of size channels by size values.
type gatherKernels struct {
	lanes    int
	plain    func(dst *float32, width int, to *int32, src *float32, step int, blocks int)
	scaled   func(dst *float32, width int, to *int32, src *float32, step int, by *float64, blocks int)
	scatter  func(dst *float32, step int, to *int32, src *float32, width int, blocks int)
	narrower *gatherKernels // assembly for runs that are shorter than a block; may be nil
}

// forRun returns the assembly for runs of the given length: k, or a narrower one. It returns nil if there
// is none.
func (k *gatherKernels) forRun(run int) *gatherKernels {
	for k != nil && run < k.lanes {
		k = k.narrower
	}
	return k
}

// Gather sets dst, [values][width], to weights with a factor: value i of channel c is
// src[order.at[i] + c*step]. Channels from real on are 0; values without a weight are left
// unchanged.
func (s *Set) Gather(dst []float32, width, real int, src []float32, order Order, step int, factor Factor) {
	dst = dst[:len(order.offsets)*width]
	if step == 1 { // the channels of a value are contiguous
		for _, i := range order.number {
			row, from := dst[int(i)*width:][:width], order.offsets[i]
			copy(row, src[from:from+real])
			factor.Apply(row[:real], 0)
			clear(row[real:])
		}
		return
	}
	k := s.gathers.forRun(order.run)
	if factor.Round != nil {
		k = nil
	}
	for c := 0; c < width; c += Lanes { // few channels at a time, so that their rows of src stay in the cache
		lanes := min(real-c, Lanes)
		order.runs(func(to []int32) {
			if k != nil && lanes == Lanes {
				k.gather(dst, width, c, src, order.offsets[to[0]], to, step, factor)
				to = to[len(to)/k.lanes*k.lanes:]
			}
			for _, i := range to {
				row, from := dst[int(i)*width+c:][:min(width-c, Lanes)], order.offsets[i]+c*step
				for j := range lanes {
					row[j] = src[from+j*step]
				}
				factor.Apply(row[:lanes], c)
				clear(row[lanes:])
			}
		})
	}
}

// runs calls do for the values of every run.
func (o Order) runs(do func(positions []int32)) {
	for i := 0; i < len(o.number); i += o.run {
		do(o.number[i : i+o.run])
	}
}

// gather does the same as Gather for the whole blocks of a run that begins at value start of src, and for
// Lanes channels from c on.
func (k *gatherKernels) gather(dst []float32, width, c int, src []float32, start int, positions []int32,
	step int,
	factor Factor) {
	n := len(positions)
	src = src[start:][:(c+Lanes-1)*step+n]
	for end := c + Lanes; c < end; c += k.lanes {
		if factor.By == nil {
			k.plain(&dst[c], 4*width, &positions[0], &src[c*step], 4*step, n/k.lanes)
		} else {
			by := factor.By[c:][:k.lanes]
			k.scaled(&dst[c], 4*width, &positions[0], &src[c*step], 4*step, &by[0], n/k.lanes)
		}
	}
}

// Scatter is the inverse of Gather. It sets dst[order.at[i] + c*step] to value i of channel
// c in src, [values][width], for the real channels. Offsets must be unique.
func (s *Set) Scatter(dst []float32, order Order, step int, src []float32, width, real int) {
	k := s.gathers.forRun(order.run)
	src = src[:len(order.offsets)*width]
	for c := 0; c < real; c += Lanes { // few channels at a time, so that their rows of dst stay in the cache
		lanes := min(real-c, Lanes)
		order.runs(func(to []int32) {
			if k != nil && lanes == Lanes {
				k.scatterBlocks(dst, order.offsets[to[0]], to, step, src, width, c)
				to = to[len(to)/k.lanes*k.lanes:]
			}
			for _, i := range to {
				at := order.offsets[i] + c*step
				for _, v := range src[int(i)*width+c:][:lanes] {
					dst[at] = v
					at += step
				}
			}
		})
	}
}

// scatterBlocks is the counterpart of gather for Scatter.
func (k *gatherKernels) scatterBlocks(dst []float32, start int, positions []int32, step int, src []float32,
	width,
	c int) {
	n := len(positions)
	dst = dst[start:][:(c+Lanes-1)*step+n]
	for end := c + Lanes; c < end; c += k.lanes {
		k.scatter(&dst[c*step], 4*step, &positions[0], &src[c], 4*width, n/k.lanes)
	}
}
