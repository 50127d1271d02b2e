package convolution

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// Positions whose input is padding add 0 to a sum and may be left out, unless the
// gradient there is infinite or NaN, or the sum is -0: then the definition is computed.

// gradientOf computes the weight gradient of a window for some rows at a time:
// units of (panel, taps).
type gradientOf struct {
	window *kernel.Window
	at     []int // as in packPart, into the gradient of the whole weight
	step   int
	all    []tapOf
	seen   []tapOf // without the positions whose input is padding; nil: they are few
}

// tapOf is a tap of a window.
type tapOf struct {
	window *kernel.Window
	tap    int
}

func newGradientOf(w *kernel.Window, at []int, step int) gradientOf {
	g := gradientOf{window: w, at: at, step: step}
	for t := range w.Taps {
		g.all = append(g.all, tapOf{w, t})
	}
	for _, tap := range w.Seen() {
		g.seen = append(g.seen, tapOf{tap, 0})
	}
	return g
}

// taps returns the taps [t0, t1) of range i.
func (g *gradientOf) taps(i, ranges int) (t0, t1 int) {
	return g.window.Taps * i / ranges, g.window.Taps * (i + 1) / ranges
}

// sums returns the number of the sums of taps [t0, t1) of one panel.
func (g *gradientOf) sums(panel, t0, t1 int) int {
	return (t1 - t0) * g.window.Run * g.window.PanelWidth(panel)
}

// eachRow calls do with the image and the gradient of each row of a chunk, in order.
type eachRow func(do func(in, grad []float32))

// chunk adds the products of a chunk of rows for taps [t0, t1) of one panel to sums,
// which are +0.
func (g *gradientOf) chunk(kernels *kernel.Set, spare *kernel.Workspace, some, panel, t0, t1 int,
	sums []float32, rows eachRow) {
	if g.seen != nil && g.bySeen(kernels, spare, some, panel, t0, t1, sums, rows) {
		return
	}
	rows(func(in, grad []float32) { g.add(kernels, spare, some, panel, g.all[t0:t1], sums, in, grad) })
}

// bySeen is chunk without the products of padding, and reports whether the sums are the
// same; they are +0 again if not. Zeros times finite values turn -0 into +0 at most, so
// that where no sum is -0 at the end, none would be another.
func (g *gradientOf) bySeen(kernels *kernel.Set, spare *kernel.Workspace, some, panel, t0, t1 int,
	sums []float32, rows eachRow) bool {
	finite := true
	rows(func(in, grad []float32) {
		if finite = finite && kernels.Finite(g.window, panel, grad); finite {
			g.add(kernels, spare, some, panel, g.seen[t0:t1], sums, in, grad)
		}
	})
	const negativeZero = 1 << 31
	isNegativeZero := func(v float32) bool { return math.Float32bits(v) == negativeZero }
	if finite && !slices.ContainsFunc(sums, isNegativeZero) {
		return true
	}
	clear(sums)
	return false
}

// add adds the products of one row for some taps of one panel. That number of
// positions is treated by all taps before the next.
func (g *gradientOf) add(kernels *kernel.Set, spare *kernel.Workspace, some, panel int, taps []tapOf,
	sums, in, grad []float32) {
	size := g.window.Run * g.window.PanelWidth(panel)
	for from := 0; from < g.window.Positions(); from += some {
		for i, t := range taps {
			if to := min(from+some, t.window.Positions()); from < to {
				kernels.Gradient(t.window, t.tap, panel, sums[i*size:], in, grad, 0, g.window.Run, from, to,
					spare)
			}
		}
	}
}
