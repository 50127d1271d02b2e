package convolution

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// A weight's gradient sums over all positions of all rows of a replica. No result may
// depend on the number of workers, so the sum is divided by the shape alone: into chunks of
// rows (chunks.go), each of them one chain from +0, with their sums added along the
// canonical tree. Work is divided among workers only where no sum crosses the boundary:
// between panels, groups and replicas, and, if these are too few, between taps.
//
// 	task = (replica, group, panel, taps t0..t1)
// 	         for each chunk of rows:  for each row:  for some positions:  for each tap: Gradient

// buildConvGradWeight builds the gradient of a convolution for its weight, one for each replica.
func buildConvGradWeight(c *plan.Compiler) run.Action {
	x, dy, dw := c.In(0), c.In(1), c.Out(0)
	g := geometryOf(c)
	if g == nil {
		return nil
	}
	switch algorithm := choose(c); algorithm {
	case class.Depthwise:
		return g.buildDepthwiseWeight(c, x, dy, dw)
	case class.Dot2:
		a := everyReplica(g.newDot2Gradient(g.lines(), x, dy, dw, c.Schedule().Pairs).replicas)
		a.AsHalves = [][]*run.Value{{x}, {dy}}
		return a
	case class.Winograd4, class.Winograd5:
		return buildWinogradGradient(c, g, g.tiles(algorithm), x, dy, dw)
	case class.Direct:
		return g.directGradient(x, dy, dw)
	}
	if c.Threads() == 1 && g.Groups == 1 { // with several threads, workers may share a panel
		dw.AllowAdding()
	}
	return everyReplica(g.gradientByWindows(x, dy, dw))
}

// gradientByWindows returns the action that computes the weight gradients of replicas
// [from, to) by windows.
func (g *Geometry) gradientByWindows(x, dy, dw *run.Value) func(f *run.Frame, from, to int) {
	if g.narrow() {
		offsets, step := g.narrowAt()
		return g.gradient([]gradientOf{newGradientOf(g.narrowForward(), offsets, step)}, x, dy, dw, true)
	}
	var sections []gradientOf
	w := g.forward()
	for i := range g.Groups {
		offsets, step := g.forwardAt(i)
		sections = append(sections, newGradientOf(w, offsets, step))
	}
	return g.gradient(sections, x, dy, dw, false)
}

// everyReplica returns an action that calls do for all replicas [from, to).
func everyReplica(do func(f *run.Frame, from, to int)) *run.AtOnce {
	return run.Whole(func(f *run.Frame) error {
		do(f, 0, len(f.Rows))
		return nil
	})
}

// gradient returns the function that computes the weight gradients of replicas [from, to). A task is one
// panel of one group for one replica. If workers would be idle, a task has only some taps of the panel.
func (g *Geometry) gradient(sections []gradientOf, x, dy, dw *run.Value, narrow bool) func(f *run.Frame,
	from, to int) {
	panels, padded, chunks := sections[0].window.Panels(), 0, chunksOf(dy.Positions)
	if narrow {
		padded = g.paddedLen()
	}
	return func(f *run.Frame, from, to int) {
		in, grad, out := f.Slack(x), f.Slack(dy), f.F32(dw)
		replicas, most := to-from, 0
		for _, rows := range f.Rows[from:to] {
			most = max(most, chunks.blocks(rows))
		}
		at := sections[0].panelsAtOnce(replicas*len(sections), most, f.Threads())
		splits := (panels + at - 1) / at
		cuts := enough(sections[0].window.Taps, replicas*len(sections)*splits, f.Threads())
		for i := range sections {
			sections[i].cut(cuts)
		}
		adds, spare := cuts == 1 && len(sections) == 1 && sections[0].sideBySide() && f.Adds(dw), 0
		if adds {
			spare = kernel.PanelLanes * sections[0].step
		}
		f.Each(replicas*len(sections)*splits*cuts, func(w *run.Worker, task int) {
			cut, task := task%cuts, task/cuts
			p0, task := task%splits*at, task/splits
			group, r := task%len(sections), from+f.Turn(task/len(sections), replicas)
			section, kernels := &sections[group], f.Kernels
			t0, t1 := section.taps(cut, cuts)
			n := section.sums(p0, p0+at, t0, t1)
			buffer := w.Floats(padded + kernel.GradientSlack + n*chunks.blocks(f.Rows[r]) + spare)
			unpacked, buffer := buffer[:spare], buffer[spare:]
			buffer, workspace := buffer[:padded], buffer[padded+kernel.GradientSlack:]
			sums := chunks.sum(kernels, workspace, n, f.Starts[r], f.Starts[r+1], func(sums []float32, from, to int) {
				rows := f.Schedule.Gradient
				section.chunk(kernels, &w.Tile, rows, p0, p0+at, t0, t1, sums, func(do func(now, next rowPair)) {
					row := func(i int) rowPair {
						return rowPair{run.Row(in, x, i)[group*g.cg:],
							grad[i*dy.Count+group*g.og : (i+1)*dy.Count+kernel.GradientSlack]}
					}
					for i := from; i < to; i++ {
						now, next := row(i), rowPair{}
						if narrow {
							g.pad(buffer, run.Row(in, x, i))
							now.in = buffer
						} else if i+1 < to {
							next = row(i + 1)
						}
						do(now, next)
					}
				})
			})
			for panel := p0; panel < p0+at; panel++ {
				first, order := panel*kernel.PanelLanes*section.step, section.orders[cut]
				if adds {
					some := unpacked[:min(spare, dw.Count-first)]
					kernels.Unpack(section.window, panel, some, sums, order, section.step)
					f.Add(dw, first, some)
				} else {
					kernels.Unpack(section.window, panel, run.Row(out, dw, r)[first:], sums, order, section.step)
				}
				sums = sums[section.sums(panel, panel+1, t0, t1):]
			}
		})
	}
}

// enough returns the number of ranges into which to divide n elements. tasks is the number of tasks for
// each range. All tasks together should keep all workers busy.
func enough(n, tasks, threads int) int {
	const perThread = 4
	if threads == 1 {
		return 1
	}
	return max(1, min(n, (perThread*threads+tasks-1)/max(tasks, 1)))
}
