package kernel

import (
	"fmt"
	"unsafe"
)

// Gradient adds to sums, for tap t of a window, the products of one image's
// values and the gradients of its result at positions [from, to):
//
//	sums[k][c] += sum over p of in[p,t][k] * grad[p][c]
//
// for k of [k0, k1) and the channels c of one panel; sums has rows of
// w.PanelWidth(panel) values, one per k from k0 on. Every element is one
// chain over p, which continues from call to call. After the last value of
// grad, GradientSlack more values must be readable. spare is the worker's
// memory.
func (s *Set) Gradient(w *Window, tap, panel int, sums, in, grad []float32, k0, k1, from, to int,
	spare *Workspace) {
	c0, step, _ := w.panel(panel)
	if len(in) < w.inNeed || len(grad) < w.outNeed+GradientSlack || len(sums) < (k1-k0)*step ||
		from < 0 || to > w.Positions() || k0 < 0 || k1 > w.Run {
		panic(fmt.Sprintf("kernel.Gradient: image of %d values, want %d; gradient of %d, want %d; sums of %d, "+
			"want %d; positions [%d, %d) of %d; values [%d, %d) of %d", len(in), w.inNeed, len(grad),
			w.outNeed+GradientSlack, len(sums), (k1-k0)*step, from, to, w.Positions(), k0, k1, w.Run))
	}
	if from >= to || k0 >= k1 {
		return
	}
	c := gradientCall{sums, in, grad[c0:], step, k0, k1, from, to}
	switch {
	case s.stagedGradient != nil && c.pays():
		c.staged(w, s.stagedGradient, tap, spare)
		return
	case s.gradient != nil:
		c.run(w, s, tap, &spare.Ahead)
		return
	}
	for p := from; p < to; p++ {
		c.generic(w, tap, p, s.fused)
	}
}

// GradientSlack is the number of readable values that must follow a gradient, because the
// tiles read whole lanes.
const GradientSlack = Lanes

// gradientCall is the state of one call of Gradient, from its panel on.
type gradientCall struct {
	sums, in, grad   []float32
	width            int // number of channels of the panel in memory
	k0, k1, from, to int
}

// generic adds the products of position p. It is the definition in plain Go.
func (c *gradientCall) generic(w *Window, tap, p int, fused bool) {
	x := w.zeros[:w.Run]
	if o := int(w.In[tap*len(w.Out)+p]); o >= 0 {
		x = c.in[o/4:][:w.Run]
	}
	g := c.grad[w.Out[p]/4:]
	g = g[:min(c.width, len(g))]
	for k := c.k0; k < c.k1; k++ {
		row := c.sums[(k-c.k0)*c.width:][:len(g)]
		if fused {
			addFused(row, g, x[k])
		} else {
			addRounded(row, g, x[k])
		}
	}
}

// gradientTile adds count positions to a tile of sums. The arguments are the arguments of
// Gradient, from the tile's first value and channel on.
type gradientTile func(sum *float32, sumStep int, in *float32, zero int, offs *int32,
	grad *float32, grads *int32, count int)

// gradientTiles are the micro-kernels for the given number of channels; see
// windowTiles.
type gradientTiles struct {
	width int
	tiles []sizedGradient
}

// sizedGradient is the micro-kernel for the given number of values of a run.
type sizedGradient struct {
	values int
	tile   gradientTile
}

// run computes all tiles of the sums. Between two tiles it prefetches some of the memory in ahead.
func (c *gradientCall) run(w *Window, s *Set, tap int, ahead *Prefetcher) {
	left, choice := c.width*(c.k1-c.k0), s.gradient
	for c0 := 0; c0 < c.width; {
		for choice[0].width > c.width-c0 {
			choice = choice[1:]
		}
		tiles := choice[0].tiles
		for k := c.k0; k < c.k1; {
			i := 0
			for i < len(tiles)-1 && !fits(tiles[i].values, tiles[i+1].values, c.k1-k) {
				i++
			}
			c.call(w, tiles[i].tile, tap, k, c0)
			size := tiles[i].values * choice[0].width
			s.Fetch(ahead, (ahead.Left()*size+left-1)/left)
			left -= size
			k += tiles[i].values
		}
		c0 += choice[0].width
	}
}

// call runs one tile that begins at value k and channel c0 of the panel.
func (c *gradientCall) call(w *Window, tile gradientTile, tap, k, c0 int) {
	in := unsafe.Add(unsafe.Pointer(first(c.in)), 4*k)
	zero := int(uintptr(unsafe.Pointer(first(w.zeros))) - uintptr(unsafe.Pointer(first(c.in))))
	tile(&c.sums[(k-c.k0)*c.width+c0], 4*c.width, (*float32)(in), zero, &w.In[tap*len(w.Out)+c.from],
		&c.grad[c0], &w.Out[c.from], c.to-c.from)
}
