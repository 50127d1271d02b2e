package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

func buildConvGradWeight(c *compiler) action {
	x, dy, dw := c.in(0), c.in(1), c.out(0)
	g := c.geometryOf(x.Shape, dy.Shape)
	if g == nil {
		return action{}
	}
	switch t, tiles := g.gradientByTiles(c.kernels); {
	case g.depthwise():
		return g.buildDepthwiseWeight(x, dy, dw)
	case c.pairsGradients():
		a := everyReplica(g.newPairsGradient(g.lines(), x, dy, dw).replicas)
		a.asHalves = [][]*value{{x}, {dy}}
		return a
	case tiles:
		return c.buildWinogradGradient(g, t, x, dy, dw)
	case g.strips(c.kernels):
		return g.stripGradient(x, dy, dw)
	}
	return everyReplica(g.gradientByWindows(x, dy, dw))
}

// gradientByWindows returns what computes the weight gradients of replicas
// [from, to) by windows.
func (g *conv) gradientByWindows(x, dy, dw *value) func(f *frame, from, to int) {
	if g.narrow() {
		at, step := g.narrowAt()
		return g.gradient([]gradientOf{{g.narrowForward(), at, step}}, x, dy, dw, true)
	}
	var parts []gradientOf
	w := g.forward()
	for i := range g.Groups {
		at, step := g.forwardAt(i)
		parts = append(parts, gradientOf{w, at, step})
	}
	return g.gradient(parts, x, dy, dw, false)
}

// everyReplica returns an action that does something for all replicas [from, to).
func everyReplica(do func(f *frame, from, to int)) action {
	return whole(func(f *frame) error {
		do(f, 0, len(f.rows))
		return nil
	})
}

// gradient returns what computes the weight gradients of replicas [from, to).
// A task is one panel of one group for one replica, and some of its taps where
// that alone would leave workers idle.
func (g *conv) gradient(parts []gradientOf, x, dy, dw *value, narrow bool) func(f *frame, from, to int) {
	panels, padded := parts[0].window.Panels(), 0
	if narrow {
		padded = g.paddedLen()
	}
	return func(f *frame, from, to int) {
		in, grad, out := f.slack(x), f.slack(dy), f.f32(dw)
		replicas := to - from
		cuts := enough(parts[0].window.Taps, replicas*len(parts)*panels, f.threads())
		f.each(replicas*len(parts)*panels*cuts, func(w *worker, task int) {
			cut, task := task%cuts, task/cuts
			panel, task := task%panels, task/panels
			group, r := task%len(parts), from+f.turn(task/len(parts), replicas)
			part := &parts[group]
			t0, t1 := part.taps(cut, cuts)
			own := w.floats(padded + kernel.GradientSlack + (t1-t0)*part.window.Run*kernel.PanelLanes)
			own, sums := own[:padded], own[padded+kernel.GradientSlack:]
			part.sum(f, w, panel, t0, t1, f.rows[r], sums, row(out, dw, r),
				func(i int) []float32 {
					image := row(in, x, f.starts[r]+i)
					if narrow {
						g.pad(own, image)
						return own
					}
					return image[group*g.cg:]
				},
				func(i int) []float32 {
					at := (f.starts[r] + i) * dy.count
					return grad[at+group*g.og : at+dy.count+kernel.GradientSlack]
				})
		})
	}
}

// enough returns in how many parts to cut n so that, with so many tasks for
// each part, all workers have something to do.
func enough(n, tasks, threads int) int {
	const perThread = 4
	if threads == 1 {
		return 1
	}
	return max(1, min(n, (perThread*threads+tasks-1)/max(tasks, 1)))
}

// gradientOf computes the weight gradient of a window for one replica at a
// time: units of (panel, taps), each of which runs over the replica's rows in
// order.
type gradientOf struct {
	window *kernel.Window
	at     []int // as in packPart, into the gradient of the whole weight
	step   int
}

// taps returns taps [t0, t1) of part i of so many.
func (g *gradientOf) taps(i, parts int) (t0, t1 int) {
	return g.window.Taps * i / parts, g.window.Taps * (i + 1) / parts
}

// gradientBlock is how many positions all taps treat before the next: they
// should stay in the cache.
const gradientBlock = 256

// sum computes taps [t0, t1) of one panel over rows: x(i) and dy(i) give row i.
func (g *gradientOf) sum(f *frame, w *worker, panel, t0, t1, rows int, sums, out []float32,
	x func(i int) []float32, dy func(i int) []float32) {
	win := g.window
	width := win.PanelWidth(panel)
	sums = sums[:(t1-t0)*win.Run*width]
	clear(sums)
	for i := range rows {
		in, grad := x(i), dy(i)
		for from := 0; from < win.Positions(); from += gradientBlock {
			to := min(from+gradientBlock, win.Positions())
			for t := t0; t < t1; t++ {
				f.kernels.Gradient(win, t, panel, sums[(t-t0)*win.Run*width:], in, grad, 0, win.Run, from, to)
			}
		}
	}
	win.Unpack(panel, out, sums, g.at, g.step, t0, t1)
}
