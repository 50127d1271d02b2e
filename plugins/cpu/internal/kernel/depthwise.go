package kernel

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/device/class"
)

// Depthwise computes positions [from, to) of a window whose runs are whole
// pixels of w.Run channels, each convolved by itself:
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
	first := 0
	for _, k := range s.depthwise {
		for ; from < to && w.Taps > 0 && k.channels <= w.Run-first; first += k.channels {
			c.column(w, k, first)
		}
	}
	for p := from; p < to && first < w.Run; p++ {
		c.generic(w, p, first, s.fused)
	}
}

// depthwiseCall is what one call of Depthwise works on.
type depthwiseCall struct {
	out, in, weights, bias []float32
	epilogue               Epilogue
	from, to               int
}

// generic computes the channels from c on at one position: the definition.
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
		sum[i] = end.at(i, sum[i])
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

// DepthwiseGradient adds to sums, for that number of taps of such a window from tap on, the products of
// one image's values and the gradients of its result at positions [from, to):
//
//	sums[t][c] += sum over p of in[p,tap+t][c] * grad[p][c]
//
// Every element is one chain over p, which goes on from call to call. Between its tiles the call fetches
// what is ahead.
func (s *Set) DepthwiseGradient(w *Window, tap, taps int, sums, in, grad []float32, from, to int,
	ahead *Prefetcher) {
	if len(in) < w.inNeed || len(grad) < w.outNeed || w.Width != w.Run || tap < 0 || taps < 0 ||
		tap+taps > w.Taps || len(sums) < taps*w.Run || from < 0 || to > w.Positions() {
		panic(fmt.Sprintf("kernel.DepthwiseGradient: image of %d values, want %d; gradient of %d, want %d; "+
			"%d of %d channels; sums of %d; taps [%d, %d) of %d; positions [%d, %d) of %d", len(in), w.inNeed,
			len(grad), w.outNeed, w.Width, w.Run, len(sums), tap, tap+taps, w.Taps, from, to, w.Positions()))
	}
	if from >= to || taps == 0 {
		return
	}
	first, left := 0, taps*w.Run
	for _, k := range s.depthwiseGradients {
		for ; k.channels <= w.Run-first; first += k.channels {
			image := &in[first]
			for t := 0; t < taps; {
				i := slices.IndexFunc(k.tiles, func(d depthwiseGradient) bool { return d.taps <= taps-t })
				d := k.tiles[i]
				d.tile(&sums[t*w.Run+first], 4*w.Run, image, w.zeroFrom(image), &w.In[(tap+t)*len(w.Out)+from],
					4*len(w.Out), &grad[first], &w.Out[from], to-from)
				s.Fetch(ahead, (ahead.Left()*d.taps*k.channels+left-1)/left)
				t, left = t+d.taps, left-d.taps*k.channels
			}
		}
	}
	for t := range taps {
		for p := from; p < to && first < w.Run; p++ {
			x := w.zeros[:w.Run]
			if o := w.In[(tap+t)*len(w.Out)+p]; o >= 0 {
				x = in[o/4:][:w.Run]
			}
			multiplyInto(sums[t*w.Run+first:(t+1)*w.Run], x[first:], grad[w.Out[p]/4:][first:], s.fused)
		}
	}
}

// zeroFrom returns where the run of zeros lies, in bytes from p.
func (w *Window) zeroFrom(p *float32) int {
	return int(uintptr(unsafe.Pointer(first(w.zeros))) - uintptr(unsafe.Pointer(p)))
}

// depthwiseTiles is the assembly for a column of that number of channels.
type depthwiseTiles struct {
	channels  int
	positions int // of tile
	tile      depthwiseTile
	one       depthwiseTile // for one position
}

// depthwiseGradients is the assembly for the gradients of that number of channels, most taps first.
type depthwiseGradients struct {
	channels int
	tiles    []depthwiseGradient
}

// depthwiseGradient is the assembly for that number of taps. The sums of two taps lie sumStep bytes
// apart, their offsets offStep.
type depthwiseGradient struct {
	taps int
	tile func(sum *float32, sumStep int, in *float32, zero int, offs *int32, offStep int, grad *float32,
		grads *int32, count int)
}

type depthwiseTile func(out *float32, outs *int32, in *float32, zero int, offs *int32, offStep int,
	taps int, w *float32, wStep int, bias *float32, plus *float32, most *float32)

// column computes all positions of the channels from c on.
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
			tile, n = k.one, 1
		}
		tile(&d.out[c], &w.Out[p], in, w.zeroFrom(in), &w.In[p], 4*len(w.Out), w.Taps, &d.weights[c], 4*w.Run, bias,
			plus, most)
		p += n
	}
}
