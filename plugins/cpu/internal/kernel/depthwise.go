package kernel

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/device/class"
)

// Depthwise computes positions [from, to) of a window with runs of whole
// pixels of w.Run channels. Each channel is convolved separately:
//
//	out[p][c] = sum over t of in[p,t][c] * weights[t][c]  (+ bias[c])
//
// The sum is one chain over t from +0. weights is [Taps][Run]; bias is nil or
// has Run values.
func (s *Set) Depthwise(w *Window, out, in, weights, bias []float32, e Epilogue, from, to int) {
	if len(in) < w.inNeed || len(out) < w.outNeed || w.Width != w.Run || len(weights) < w.Taps*w.Run ||
		bias != nil && len(bias) < w.Run || e.lacks(w.outNeed) || from < 0 || to > w.Positions() {
		panic(fmt.Sprintf("kernel.Depthwise: image of %d values, want %d; result of %d, plus %d, want %d; "+
			"%d of %d channels; weights of %d; bias of %d; positions [%d, %d) of %d", len(in), w.inNeed, len(out),
			len(e.Plus), w.outNeed, w.Width, w.Run, len(weights), len(bias), from, to, w.Positions()))
	}
	c := depthwiseCall{out, in, weights, bias, e, from, to}
	left := 0
	if from < to && w.Taps > 0 {
		again := e.Plus == nil // Plus may be the result, so it must be added only once
		left = overlapping(s.depthwise, w.Run, again, func(k depthwiseTiles, first, _ int) {
			c.column(w, k, first)
		})
	}
	for p := from; p < to && left < w.Run; p++ {
		c.generic(w, p, left, s.fused)
	}
}

// overlapping divides n channels into columns and calls do for each, with the widest assembly that fits. It
// passes the first channel of the column, and the first channel that no earlier column includes (fresh). If
// overlap is set, channels may be processed twice: the channels after the last whole column then form a
// column together with some before them, unless the next narrower assembly can hold them. overlapping
// returns the first channel that no column includes.
func overlapping[K interface{ width() int }](kernels []K, n int, overlap bool,
	do func(k K, first, fresh int)) int {
	first := 0
	for i, k := range kernels {
		for ; k.width() <= n-first; first += k.width() {
			do(k, first, first)
		}
		narrower := 0
		if i+1 < len(kernels) {
			narrower = kernels[i+1].width()
		}
		if overlap && n-first > narrower && n >= k.width() {
			do(k, n-k.width(), first)
			return n
		}
	}
	return first
}

// depthwiseCall is the state of one call of Depthwise.
type depthwiseCall struct {
	out, in, weights, bias []float32
	epilogue               Epilogue
	from, to               int
}

// generic computes the channels from c on at one position. It is the definition in plain Go.
func (d *depthwiseCall) generic(w *Window, p, c int, fused bool) {
	sum := d.out[w.Out[p]/4:][c:w.Run]
	clear(sum)
	for t := range w.Taps {
		x := w.zeros[:w.Run]
		if o := w.In[t*len(w.Out)+p]; o >= 0 {
			x = d.in[o/4:][:w.Run]
		}
		multiplyInto(sum, x[c:], d.weights[t*w.Run+c:], fused)
	}
	end := d.epilogue.From(int(w.Out[p])/4 + c)
	for i := range sum {
		if d.bias != nil {
			sum[i] += d.bias[c+i]
		}
		sum[i] = end.applyTo(i, sum[i])
	}
}

// multiplyInto adds x*y to sum, element by element.
func multiplyInto(sum, x, y []float32, fused bool) {
	x, y = x[:len(sum)], y[:len(sum)]
	for i := range sum {
		if fused {
			sum[i] = class.Fuse(x[i], y[i], sum[i])
		} else {
			sum[i] += float32(x[i] * y[i])
		}
	}
}

// DepthwiseGradient adds products to sums, for the taps [tap, tap+taps) of a window for Depthwise: the values
// of one image times the gradients of its result, at positions [from, to):
//
//	sums[t][c] += sum over p of in[p,tap+t][c] * grad[p][c]
//
// Every element is one chain over p, which continues from call to call. DepthwiseSums describes the
// layout of sums. Between its tiles the call prefetches the memory in ahead.
func (s *Set) DepthwiseGradient(w *Window, tap, taps int, sums, in, grad []float32, from, to int,
	ahead *Prefetcher) {
	_, again := s.DepthwiseSums(w.Run)
	if len(in) < w.inNeed || len(grad) < w.outNeed || w.Width != w.Run || tap < 0 || taps < 0 ||
		tap+taps > w.Taps || len(sums) < taps*(w.Run+again) || from < 0 || to > w.Positions() {
		panic(fmt.Sprintf("kernel.DepthwiseGradient: image of %d values, want %d; gradient of %d, want %d; "+
			"%d of %d channels; sums of %d; taps [%d, %d) of %d; positions [%d, %d) of %d", len(in), w.inNeed,
			len(grad), w.outNeed, w.Width, w.Run, len(sums), tap, tap+taps, w.Taps, from, to, w.Positions()))
	}
	if from >= to || taps == 0 {
		return
	}
	left, step := taps*w.Run, w.Run+again
	first := overlapping(s.depthwiseGradients, w.Run, true, func(k depthwiseGradients, first, fresh int) {
		image := &in[first]
		for t := 0; t < taps; {
			i := slices.IndexFunc(k.tiles, func(d depthwiseGradient) bool { return d.taps <= taps-t })
			d := k.tiles[i]
			d.tile(&sums[t*step+fresh], 4*step, image, w.zeroFrom(image), &w.In[(tap+t)*len(w.Out)+from],
				4*len(w.Out), &grad[first], &w.Out[from], to-from)
			some := d.taps * (first + k.channels - fresh)
			s.Fetch(ahead, (ahead.Left()*some+left-1)/left)
			t, left = t+d.taps, left-some
		}
	})
	for t := range taps {
		for p := from; p < to && first < w.Run; p++ {
			x := w.zeros[:w.Run]
			if o := w.In[(tap+t)*len(w.Out)+p]; o >= 0 {
				x = in[o/4:][:w.Run]
			}
			multiplyInto(sums[t*step+first:][:w.Run-first], x[first:], grad[w.Out[p]/4:][first:], s.fused)
		}
	}
}

// DepthwiseSums returns the layout of the sums of DepthwiseGradient for one tap. It begins with the sums of
// the first channels; fresh is their number. After a gap of again values come the sums of the other
// channels.
func (s *Set) DepthwiseSums(channels int) (fresh, again int) {
	fresh = channels
	overlapping(s.depthwiseGradients, channels, true, func(k depthwiseGradients, first, from int) {
		if from > first {
			fresh, again = from, from-first
		}
	})
	return fresh, again
}

// zeroFrom returns the distance in bytes from p to the run of zeros that is read for padding.
func (w *Window) zeroFrom(p *float32) int {
	return int(uintptr(unsafe.Pointer(first(w.zeros))) - uintptr(unsafe.Pointer(p)))
}

func (k depthwiseTiles) width() int { return k.channels }

func (k depthwiseGradients) width() int { return k.channels }

// depthwiseTiles is the assembly for a column of the given number of channels.
type depthwiseTiles struct {
	channels  int
	positions int // number of positions of a tile
	tile      depthwiseTile
	single    depthwiseTile // assembly for a single position
}

// depthwiseGradients is the assembly for the gradients of the given number of channels, most taps first.
type depthwiseGradients struct {
	channels int
	tiles    []depthwiseGradient
}

// depthwiseGradient is the assembly for the given number of taps. It receives the distance in bytes between
// the sums of two taps (sumStep), and between their offsets (offStep).
type depthwiseGradient struct {
	taps int
	tile func(sum *float32, sumStep int, in *float32, zero int, offs *int32, offStep int, grad *float32,
		grads *int32, count int)
}

type depthwiseTile func(out *float32, outs *int32, in *float32, zero int, offs *int32, offStep int,
	taps int, w *float32, wStep int, bias *float32, plus *float32, most *float32)

// column computes all positions of the column of channels that begins with channel c.
func (d *depthwiseCall) column(w *Window, k depthwiseTiles, c int) {
	var bias *float32
	if d.bias != nil {
		bias = &d.bias[c]
	}
	in, end := &d.in[c], d.epilogue.From(c)
	plus, most := end.assembly()
	for p := d.from; p < d.to; {
		tile, n := k.tile, k.positions
		if n > d.to-p {
			tile, n = k.single, 1
		}
		tile(&d.out[c], &w.Out[p], in, w.zeroFrom(in), &w.In[p], 4*len(w.Out), w.Taps, &d.weights[c], 4*w.Run, bias,
			plus, most)
		p += n
	}
}
