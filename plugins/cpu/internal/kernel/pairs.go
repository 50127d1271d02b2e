package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/device/class"
)

// Pairs is a Window with operands of bfloat16, two values of a run at a time:
//
//	out[p][c] = sum over t, k of in[p,t][k] * weight[t][k][c]
//
// The sum is one chain of fused multiply-adds that begins with +0. The outer loop is over
// taps, the inner one over pairs of values. In each pair the second value comes before the
// first, as in the instruction VDPBF16PS. After the sum, either it is multiplied by the scale
// of its channel and a bias is added, with one rounding, or only the bias is added. Then the
// epilogue is applied, and the result may be rounded to bfloat16, in float32 or in two bytes.
// In all these steps, as in VDPBF16PS, subnormal operands and results are replaced by zeros
// with the same sign.
//
// Weights are packed in panels of PanelLanes output channels, like the weights
// of Window, each as [Taps][Run/2][width][2]: 16 channels of 16 pairs, with rows
// 4*width bytes apart, form one matrix tile.
type Pairs struct {
	*Window
	half      []int32 // [Taps][Positions]: where each run begins, in bytes from an image of bfloat16
	low, high []int32 // for each position, the first value that it reads, and the value after the last
}

// NewPairs returns the pairs of a window. Its runs must have even length.
func NewPairs(w *Window) *Pairs {
	if w.Run%2 != 0 {
		panic(fmt.Sprintf("kernel.NewPairs: a run of %d values", w.Run))
	}
	p := &Pairs{Window: w, half: make([]int32, len(w.In)), low: make([]int32, len(w.Out)),
		high: make([]int32, len(w.Out))}
	for i := range p.low {
		p.low[i] = math.MaxInt32
	}
	for i, o := range w.In {
		if o < 0 {
			p.half[i] = -1
			continue
		}
		q := i % len(w.Out)
		p.half[i], p.low[q], p.high[q] = o/2, min(p.low[q], o/4), max(p.high[q], o/4+int32(w.Run))
	}
	return p
}

// Reach returns the values [low, high) of an image that positions [from, to) read.
func (p *Pairs) Reach(from, to int) (low, high int) {
	if from >= to {
		return 0, 0
	}
	low, high = int(slices.Min(p.low[from:to])), int(slices.Max(p.high[from:to]))
	return min(low, high), high
}

// ScaledEpilogue is applied to a sum of pairs, from its first channel on.
type ScaledEpilogue struct {
	Scale []float32 // nil, or BiasLen values; if Scale is set, Bias is, too
	Bias  []float32 // nil, or BiasLen values
	Epilogue
	Round bool // the result is rounded to bfloat16
}

// channels returns the epilogue for channels from c on. The result begins at channel c, too.
func (f ScaledEpilogue) channels(c int) ScaledEpilogue {
	if f.Scale != nil {
		f.Scale = f.Scale[c:]
	}
	if f.Bias != nil {
		f.Bias = f.Bias[c:]
	}
	if f.Plus != nil {
		f.Plus = f.Plus[c:]
	}
	return f
}

// Pairs computes positions [from, to) of one panel for one image. in and out
// begin at the image and at its result.
func (s *Set) Pairs(p *Pairs, panel int, out []float32, in, packed []uint16, f ScaledEpilogue, from, to int,
	spare *Workspace) {
	pairsInto(s, p, panel, out, in, packed, f, from, to, spare)
}

// PairsHalf is like Pairs but with results rounded to bfloat16 of two bytes each.
func (s *Set) PairsHalf(p *Pairs, panel int, out, in, packed []uint16, f ScaledEpilogue, from, to int,
	spare *Workspace) {
	pairsInto(s, p, panel, out, in, packed, f, from, to, spare)
}

// pairsInto does the same as Pairs for results of either size.
func pairsInto[T float32 | uint16](s *Set, p *Pairs, panel int, out []T, in, packed []uint16,
	f ScaledEpilogue, from, to int, spare *Workspace) {
	if len(in) < p.inNeed || len(out) < p.outNeed || len(packed) < p.PackedLen() ||
		from < 0 || to > p.Positions() ||
		f.Bias != nil && len(f.Bias) < p.BiasLen() || f.Plus != nil && len(f.Plus) < p.outNeed ||
		f.Scale != nil && (f.Bias == nil || len(f.Scale) < p.BiasLen()) {
		panic(fmt.Sprintf("kernel.Pairs: image of %d values, want %d; result of %d, want %d; "+
			"weights of %d, want %d; scale of %d, bias of %d, want %d; %d to be added; positions [%d, %d) of %d",
			len(in), p.inNeed, len(out), p.outNeed, len(packed), p.PackedLen(), len(f.Scale), len(f.Bias),
			p.BiasLen(), len(f.Plus), from, to, p.Positions()))
	}
	if from >= to {
		return
	}
	first, width, real := p.panel(panel)
	c := pairsCall[T]{p, out[first:], in, packed[p.Taps*p.Run*first:], f.channels(first), width, real}
	if s.pairs != nil {
		c.run(s.pairs, from, to, spare)
		return
	}
	for q := from; q < to; q++ {
		c.generic(spare.tile[:width], q)
	}
}

// generic computes one position of one panel. It is the definition in plain Go.
func (c *pairsCall[T]) generic(acc []float32, q int) {
	clear(acc)
	for t := range c.Taps {
		o := c.half[t*len(c.Out)+q]
		for k := range c.Run {
			v := float32(0)
			if o >= 0 {
				v = widened(c.in[int(o)/2+(k^1)])
			}
			row := c.weights[(t*c.Run+k)/2*c.width*2+1-k%2:]
			for i := range acc {
				acc[i] = fuseFlushed(v, widened(row[2*i]), acc[i])
			}
		}
	}
	at := int(c.Out[q]) / 4
	for i, v := range acc[:c.real] {
		store(&c.out[at+i], c.apply(i, at+i, v))
	}
}

// store sets a result, which is rounded to bfloat16 if it has two bytes.
func store[T float32 | uint16](dst *T, v float32) {
	switch dst := any(dst).(type) {
	case *float32:
		*dst = v
	case *uint16:
		*dst = bf16(v)
	}
}

// apply applies f to v, the sum of channel i. The result will be stored in out[index].
func (f *ScaledEpilogue) apply(i, index int, v float32) float32 {
	switch {
	case f.Scale != nil:
		v = fuseFlushed(v, f.Scale[i], f.Bias[i])
	case f.Bias != nil:
		v = flushed(v + flushed(f.Bias[i]))
	}
	if f.Plus != nil {
		v = flushed(v + flushed(f.Plus[index]))
	}
	if v = f.bound(v); f.Round {
		v = widened(bf16(v))
	}
	return v
}

// fuseFlushed is like fuse but with subnormal operands and results replaced by zeros. A result is subnormal
// if it is below leastNormal after rounding to the precision of normal numbers.
func fuseFlushed(x, y, z float32) float32 {
	const least = leastNormal - 0x1p-151
	sum := class.OddSum(flushed(x), flushed(y), flushed(z))
	if sum < least && sum > -least {
		return float32(math.Copysign(0, sum))
	}
	return float32(sum)
}
