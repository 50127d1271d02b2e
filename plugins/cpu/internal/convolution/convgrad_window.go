package convolution

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// Where a tap reads padding, the product is 0 and may be skipped, unless the gradient there is infinite or
// NaN, or the sum is -0. In these cases all products are computed.

// gradientOf computes the weight gradient of a window for some rows at a time. Its work consists of units:
// a unit is a panel and some taps.
type gradientOf struct {
	window  *kernel.Window
	offsets []int // offsets of weights in the gradient of the whole weight, as in packSection
	step    int
	orders  []kernel.Order // offsets as an order, for each range of taps: see cut
	all     []tapOf
	seen    []tapOf // all taps, without positions with padding as input; nil if there are few such positions
	// inOrder reports that there is only one tap, which reads consecutive positions.
	inOrder bool
}

// tapOf is a tap of a window.
type tapOf struct {
	window *kernel.Window
	tap    int
}

func newGradientOf(w *kernel.Window, offsets []int, step int) gradientOf {
	g := gradientOf{window: w, offsets: offsets, step: step, inOrder: w.Taps == 1 && w.Positions() > 1}
	for p, offset := range w.In {
		g.inOrder = g.inOrder && int(offset) == p*int(w.In[1]) && offset >= 0
	}
	for t := range w.Taps {
		g.all = append(g.all, tapOf{w, t})
	}
	for _, tap := range w.Seen() {
		g.seen = append(g.seen, tapOf{tap, 0})
	}
	return g
}

// taps returns the taps [t0, t1) that belong to range i of the given number of ranges.
func (g *gradientOf) taps(i, ranges int) (t0, t1 int) {
	return g.window.Taps * i / ranges, g.window.Taps * (i + 1) / ranges
}

// sideBySide reports whether the weights of a panel are contiguous.
func (g *gradientOf) sideBySide() bool { return len(g.offsets) == g.step }

// cut divides the taps into the given number of ranges, and sets orders.
func (g *gradientOf) cut(ranges int) {
	if len(g.orders) == ranges {
		return
	}
	g.orders = nil
	for i := range ranges {
		t0, t1 := g.taps(i, ranges)
		g.orders = append(g.orders, kernel.NewOrder(g.offsets[t0*g.window.Run:t1*g.window.Run]))
	}
}

// sums returns how many sums taps [t0, t1) of panels [p0, p1) have.
func (g *gradientOf) sums(p0, p1, t0, t1 int) (n int) {
	for panel := p0; panel < p1; panel++ {
		n += (t1 - t0) * g.window.Run * g.window.PanelWidth(panel)
	}
	return n
}

// nearSums is the maximum number of bytes of sums that stay in a near cache while positions pass through
// all panels.
const nearSums = 1 << 20

// panelsAtOnce returns the number of panels that process the same positions one after the other, so that an
// image and its gradient are read once. These are all panels if there is only one tap, the sums of the
// given number of blocks fit into nearSums, and there are tasks for all workers. Otherwise it is 1.
func (g *gradientOf) panelsAtOnce(tasks, blocks, threads int) int {
	all := g.window.Panels()
	if !g.inOrder || tasks%threads != 0 || 4*g.sums(0, all, 0, 1)*blocks > nearSums {
		return 1
	}
	return all
}

// eachRow calls do for each row of a chunk, in order. next is the row after it.
type eachRow func(do func(now, next rowPair))

// rowPair is a row of the image and a row of its gradient. Both may be nil.
type rowPair struct{ in, grad []float32 }

// chunk adds the products of a chunk of rows, for taps [t0, t1) of panels [p0, p1), to sums, which are
// +0. Unless g.inOrder is set, p0 is the only panel.
func (g *gradientOf) chunk(kernels *kernel.Set, spare *kernel.Workspace, length, p0, p1, t0, t1 int,
	sums []float32, rows eachRow) {
	if g.inOrder {
		rows(func(now, next rowPair) { g.addInOrder(kernels, spare, length, p0, p1, sums, now, next) })
		return
	}
	if g.seen != nil && g.bySeen(kernels, spare, length, p0, t0, t1, sums, rows) {
		return
	}
	rows(func(now, _ rowPair) { g.add(kernels, spare, length, p0, g.all[t0:t1], sums, now) })
}

// bySeen computes chunk without the products of padding. It reports whether the sums are the same as with
// these products. If not, it sets the sums to +0. Products of zero and finite values can only change a sum
// from -0 to +0. So if no final sum is -0, all sums are the same.
func (g *gradientOf) bySeen(kernels *kernel.Set, spare *kernel.Workspace, length, panel, t0, t1 int,
	sums []float32, rows eachRow) bool {
	finite := true
	rows(func(now, _ rowPair) {
		if finite = finite && kernels.Finite(g.window, panel, now.grad); finite {
			g.add(kernels, spare, length, panel, g.seen[t0:t1], sums, now)
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

// add adds the products of one row for some taps of one panel. The positions are divided into ranges of the
// given length. All taps process a range before the next one.
func (g *gradientOf) add(kernels *kernel.Set, spare *kernel.Workspace, length, panel int, taps []tapOf,
	sums []float32, now rowPair) {
	size := g.window.Run * g.window.PanelWidth(panel)
	for from := 0; from < g.window.Positions(); from += length {
		for i, t := range taps {
			if to := min(from+length, t.window.Positions()); from < to {
				kernels.Gradient(t.window, t.tap, panel, sums[i*size:], now.in, now.grad, 0, g.window.Run, from, to,
					spare)
			}
		}
	}
}

// addInOrder adds the products of one row for the only tap of panels [p0, p1). All panels process a
// range of positions before the next one, which is prefetched meanwhile: a tile reads a few values of every
// position, and the processor would wait for each of them.
func (g *gradientOf) addInOrder(kernels *kernel.Set, spare *kernel.Workspace, length, p0, p1 int,
	sums []float32, now, next rowPair) {
	positions := g.window.Positions()
	for from := 0; from < positions; from += length {
		row, first := now, from+length
		if first >= positions {
			row, first = next, 0
		}
		last, left := min(first+length, positions), sums
		for panel := p0; panel < p1; panel++ {
			i, n := panel-p0, p1-p0
			spare.Ahead.Clear()
			if row.in != nil {
				g.ahead(&spare.Ahead, p0, p1, row, first+(last-first)*i/n, first+(last-first)*(i+1)/n)
			}
			kernels.Gradient(g.window, 0, panel, left, now.in, now.grad, 0, g.window.Run, from,
				min(from+length, positions), spare)
			left = left[g.sums(panel, panel+1, 0, 1):]
		}
	}
	spare.Ahead.Clear()
}

// ahead adds to the prefetcher the data that panels [p0, p1) read at positions [from, to) of a row.
func (g *gradientOf) ahead(prefetcher *kernel.Prefetcher, p0, p1 int, row rowPair, from, to int) {
	w, width := g.window, 0
	for panel := p0; panel < p1; panel++ {
		width += w.PanelWidth(panel)
	}
	add := func(values []float32, offsets []int32, first, run int) {
		step, at := int(offsets[1]-offsets[0]), int(offsets[from])/4+first
		end := min(at+(to-from)*step/4, len(values))
		prefetcher.Add(bytesOf(values, at, end), min(4*run, step), step)
	}
	add(row.in, w.In, 0, w.Run)
	add(row.grad, w.Out, p0*kernel.PanelLanes, width)
}
