package kernel

import (
	"fmt"
	"unsafe"
)

// PairsRows describes the pairs of positions that a weight gradient multiplies. A row of pairs of the
// result's gradient is multiplied by the row of pairs of the image that a tap reads.
type PairsRows struct {
	Run   int // values of x that are multiplied
	Width int // number of channels, in whole Lanes
	Pairs int // number of pairs in a row
	// Taps is the number of taps that read the same rows of x. The last tap uses the
	// corresponding rows of grad, and each tap before it uses rows GradRow values later.
	// Their sums are SumTap values apart. More than one tap requires Lanes channels.
	Taps, GradRow, SumTap int
}

// PairsGradient adds to sums, [run][width] for every tap, the products of pairs:
//
//	sums[t][k][c] += sum over r, q of x[r][q][k]*grad[r,t][q][c]
//
// rows holds the offsets of row r of x and of grad, in bytes. InterleaveBF16 makes
// the operands: a pair of x has the length of a run in whole Lanes. Every
// element is one chain over the rows and their pairs, the second value of each
// before the first, with the roundings of Pairs; it continues from call to call.
// next is the memory to prefetch for the next call, or nil.
func (s *Set) PairsGradient(p PairsRows, sums []float32, x, grad []uint16, rows [][2]int32,
	next *Prefetcher) {
	if len(rows) == 0 || p.Pairs == 0 || p.Run == 0 {
		return
	}
	p.check(len(sums), len(x), len(grad), rows)
	if tiles := s.pairsGradients.tiles; tiles != nil {
		pairsGradientCall{p, sums, x, grad, rows, next}.run(tiles)
		return
	}
	for _, r := range rows {
		for t := range p.Taps {
			p.generic(sums[t*p.SumTap:], x[r[0]/2:], grad[int(r[1])/2+(p.Taps-1-t)*p.GradRow:])
		}
	}
}

// check panics unless the operands and sums are long enough for all that is read and written.
func (p PairsRows) check(sums, x, grad int, rows [][2]int32) {
	xRow, gradRow := 2*p.Pairs*padded(p.Run), 2*p.Pairs*p.Width
	ok := p.Width > 0 && p.Width%Lanes == 0 && (p.Taps == 1 || p.Taps > 1 && p.Width == Lanes) &&
		sums >= (p.Taps-1)*p.SumTap+p.Run*p.Width && min(p.SumTap, p.GradRow) >= 0
	for _, r := range rows {
		ok = ok && r[0] >= 0 && int(r[0])/2+xRow <= x && r[1] >= 0 &&
			int(r[1])/2+(p.Taps-1)*p.GradRow+gradRow <= grad
	}
	if !ok {
		panic(fmt.Sprintf("kernel.PairsGradient: %+v: %d sums, %d values of x, %d of grad, rows at %d", p, sums, x,
			grad, rows))
	}
}

// generic adds the products of one row for one tap. It is the definition in plain Go.
func (p PairsRows) generic(sums []float32, x, grad []uint16) {
	for q := range p.Pairs {
		for k := range p.Run {
			row := sums[k*p.Width:][:p.Width]
			for _, half := range []int{1, 0} {
				v := widened(x[2*(q*padded(p.Run)+k)+half])
				for c := range row {
					row[c] = fuseFlushed(v, widened(grad[2*(q*p.Width+c)+half]), row[c])
				}
			}
		}
	}
}

// pairsGradients is the assembly for PairsGradient.
type pairsGradients struct {
	tiles            []pairsGradientTiles // widest first
	interleave       func(dst *uint16, in *float32, zero int, offs *int32, pairs, lanes, lines, step int)
	interleaveHalves func(dst *uint16, in *uint16, zero int, offs *int32, pairs, lanes, lines, step int)
}

// pairsGradientTiles are the micro-kernels for the given number of vectors of Lanes channels. These are
// adjacent channels of one tap, or the same channels of several taps.
type pairsGradientTiles struct {
	vectors int
	tiles   []sizedPairsGradient
}

// sizedPairsGradient is the micro-kernel for the given number of values of a run.
type sizedPairsGradient struct {
	values int
	tile   func(sum *float32, sumStep int, sumVector int, x *uint16, xStep int, grad *uint16, gradStep int,
		gradVector int, rows *int32, count int, pairs int, next *byte, nextStep int)
}

// pairsGradientCall is the state of one call of PairsGradient.
type pairsGradientCall struct {
	PairsRows
	sums    []float32
	x, grad []uint16
	rows    [][2]int32
	next    *Prefetcher
}

// run computes all tiles of the sums.
func (c pairsGradientCall) run(choice []pairsGradientTiles) {
	vectors, sum, sumStep, gradStep := c.Width/Lanes, 0, Lanes, 2*Lanes
	if c.Taps > 1 {
		vectors, sum, sumStep, gradStep = c.Taps, (c.Taps-1)*c.SumTap, -c.SumTap, c.GradRow
	}
	for v := 0; v < vectors; {
		for choice[0].vectors > vectors-v {
			choice = choice[1:]
		}
		tiles := choice[0].tiles
		for k := 0; k < c.Run; {
			i := 0
			for i < len(tiles)-1 && !fits(tiles[i].values, tiles[i+1].values, c.Run-k) {
				i++
			}
			to := &c.sums[sum+v*sumStep+k*c.Width]
			next, nextStep := c.next.take(len(c.rows) * c.Pairs)
			if next == nil {
				next = (*byte)(unsafe.Pointer(to)) // any address that can be read
			}
			tiles[i].tile(to, 4*c.Width, 4*sumStep, &c.x[2*k], 4*padded(c.Run), &c.grad[v*gradStep], 4*c.Width,
				2*gradStep, &c.rows[0][0], len(c.rows), c.Pairs, next, nextStep)
			k += tiles[i].values
		}
		v += choice[0].vectors
	}
}
