package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// Implicit GEMM treats a convolution as a matrix product with its windows as rows
// (im2col), without copying the windows: the offsets of a kernel.Window point to the
// start of each run.
//
// 	positions        taps * C                O
// 	    p0     [ run | run | ... ]     [ panel | panel ]        [ out ]
// 	    p1     [ run | run | ... ]  *  [       |       ]   =    [ out ]
// 	    ...      read in place           packed (pack.go)
//
// A section is one window with its weights: one for each group, and for the gradient one
// for each phase of each group. A unit is one panel of one section, the smallest piece of
// work: the kernel is called for some positions of it.
//
// 	row of the batch     unit 0          unit 1          unit 2
// 	                  |===========|===========|======|
// 	pieces for 3      |-- w0 --|-- w1 --|-- w2 --|         row, cut at whole tiles

// product computes rows of a product by windows. Each section of its pack reads the input and writes the
// output from the section's first channels on.
type product struct {
	packed    *pack
	filter    *filter
	bias      []float32
	biasFrom  []int // for each section, where its channels begin in the bias
	units     []unit
	placed    *kernel.Window // the window of all sections if an operand has an unusual layout; or nil
	weights   int            // bytes of all packed weights
	matrix    *matrixPack    // nil: windows compute everything
	atOnce    int            // number of panels in a unit of matrix units
	exclusive bool           // no other node runs between packing and the end of apply
}

// operands are the operands and the result of a product for one row, and its epilogue.
type operands struct {
	out, in []float32
	end     kernel.Epilogue
}

// unit is one panel of one section; with matrix units it includes the panels after it.
type unit struct{ section, panel int }

// newProduct returns a product of the windows and weights in a pack.
func newProduct(p *pack, t *filter) *product {
	out := &product{packed: p, filter: t, weights: int(p.Bytes())}
	out.units = out.unitsOf(1)
	return out
}

// unitsOf divides the panels into units of the given number of panels each.
func (p *product) unitsOf(panels int) (units []unit) {
	for i, section := range p.packed.sections {
		for panel := 0; panel < section.window.Panels(); panel += panels {
			units = append(units, unit{i, panel})
		}
	}
	return units
}

// prepare packs the weights and the bias if they have changed.
func (p *product) prepare(f *run.Frame) error {
	p.prepareBias(f)
	if p.matrix != nil {
		p.matrix.fill(f, p)
	} else {
		p.packed.fill(f, p.filter, p.exclusive)
	}
	return nil
}

// prepareBias copies the filter's summands in the order of the sections. The part of each section is padded
// to whole lanes.
func (p *product) prepareBias(f *run.Frame) {
	if !p.filter.prepare(f) || len(p.filter.add) == 0 {
		return
	}
	p.bias, p.biasFrom = p.bias[:0], p.biasFrom[:0]
	for _, section := range p.packed.sections {
		p.biasFrom = append(p.biasFrom, len(p.bias))
		p.bias = append(p.bias, p.filter.add[section.out:][:section.window.Width]...)
		for range section.window.BiasLen() - section.window.Width {
			p.bias = append(p.bias, 0)
		}
	}
}

// do computes positions [from, to) of a unit: the products of this window with the unit's weights.
func (p *product) do(f *run.Frame, w *run.Worker, u unit, win *kernel.Window, o operands, from, to int) {
	if p.matrix != nil {
		p.byMatrix(f, w, u, o, from, to)
	} else {
		p.byWindows(f, w, u, win, o, from, to)
	}
}

// byWindows computes positions [from, to) of one panel over a window.
func (p *product) byWindows(f *run.Frame, w *run.Worker, u unit, win *kernel.Window, o operands,
	from, to int) {
	section := &p.packed.sections[u.section]
	if section.untrimmed[u.panel] {
		win = win.Whole()
	}
	f.Kernels.Window(win, u.panel, o.out[section.out:], o.in[section.in:], section.data, p.biasOf(u),
		o.end.From(section.out), from, to, &w.Tile)
}

// biasOf returns the summands for the channels of a unit's section. It returns nil if there are no
// summands.
func (p *product) biasOf(u unit) []float32 {
	if len(p.bias) == 0 {
		return nil
	}
	return p.bias[p.biasFrom[u.section]:]
}

// row divides one row into pieces parts, and computes the part with index piece. The parts have about equal
// numbers of values, in whole tiles.
func (p *product) row(f *run.Frame, w *run.Worker, o operands, piece, pieces int) {
	all := 0
	for _, u := range p.units {
		all += p.size(u)
	}
	first, last := schedule.RangeOf(piece, pieces, all)
	for _, u := range p.units {
		n := p.size(u)
		if from, to := p.reach(u, first, n), p.reach(u, last, n); from < to {
			p.do(f, w, u, p.window(u), o, from, to)
		}
		first, last = first-n, last-n
	}
}

// size returns the number of values that a unit computes for a row.
func (p *product) size(u unit) (n int) {
	win := p.packed.sections[u.section].window
	for panel := u.panel; panel < min(u.panel+max(p.atOnce, 1), win.Panels()); panel++ {
		n += win.PanelWidth(panel)
	}
	return n * win.Positions()
}

// reach returns how many positions contain about the first n of the values of a unit. It is a whole number
// of tiles, or all positions. size is the number of all values of the unit.
func (p *product) reach(u unit, n, size int) int {
	positions, step := p.packed.sections[u.section].window.Positions(), p.step()
	switch {
	case n <= 0:
		return 0
	case n >= size:
		return positions
	}
	at := int(int64(n) * int64(positions) / int64(size))
	return min((at+step/2)/step*step, positions)
}

// alike reports whether all sections use the same window.
func (p *product) alike() bool {
	for _, section := range p.packed.sections {
		if section.window != p.packed.sections[0].window {
			return false
		}
	}
	return true
}

// window returns the window of a unit.
func (p *product) window(u unit) *kernel.Window {
	if p.placed != nil {
		return p.placed
	}
	return p.packed.sections[u.section].window
}

// locate changes the window if the operand is stored in a ring buffer, or if the result is stored among the
// channels of a larger value.
func (p *product) locate(x, y *run.Value) { p.locateBytes(x.Ring*4*x.Channels, y) }

// locateBytes does the same as locate for an input in a ring buffer. in is the size of the ring in bytes,
// or 0.
func (p *product) locateBytes(in int, y *run.Value) {
	window := p.packed.sections[0].window
	if y.IsInserted() {
		p.placed = window.Among(y.Channels, y.Step())
		window = p.placed
	}
	if out := y.Ring * 4 * y.Channels; in > 0 || out > 0 {
		p.placed = window.InRings(in, out)
	}
}

// span computes positions [from, to) of one row.
func (p *product) span(f *run.Frame, w *run.Worker, o operands, from, to int) {
	for _, u := range p.units {
		p.do(f, w, u, p.window(u), o, from, to)
	}
}

// work estimates the time of a row in nanoseconds, at 100 multiply-adds per nanosecond.
func (p *product) work() (ns int) {
	for _, section := range p.packed.sections {
		ns += len(section.data) * section.window.Positions() / 100
	}
	return ns
}

// stepsOf returns the number of tiles of a row, for all positions of all units.
func (p *product) stepsOf() (n int) {
	for _, u := range p.units {
		n += (p.packed.sections[u.section].window.Positions() + p.step() - 1) / p.step()
	}
	return n
}

// With heavy weights the loops are exchanged: a task is one unit for some rows, so that a
// worker reads a panel once for all of them.
//
// 	rows few             every row is cut for the workers (row)
// 	kernels with slabs   applySlabs
// 	else                 tasks = units x blocks of rows

// apply computes all rows of the product. Each time it reads the weights, it uses them for several rows.
func (p *product) apply(f *run.Frame, o operands, inCount, outCount int) {
	if p.bySlabs(f, outCount) {
		p.applySlabs(f, o, inCount, outCount)
		return
	}
	rows := f.Total()
	if f.Few() {
		pieces := f.HeavyPieces(p.work(), p.stepsOf())
		f.Each(rows*pieces, func(w *run.Worker, task int) {
			p.row(f, w, o.row(task/pieces, inCount, outCount), task%pieces, pieces)
		})
		return
	}
	chunk := max(1, min(f.Schedule.Rows, rows/(2*f.Threads())))
	blocks := (rows + chunk - 1) / chunk
	f.Each(len(p.units)*blocks, func(w *run.Worker, task int) {
		u, first := p.units[task/blocks], task%blocks*chunk
		win := p.window(u)
		if blocks == 1 { // if there are more blocks, most tasks continue with the weights of the previous task
			w.Tile.Next = p.weightsOf(task + f.Threads())
		}
		for r := first; r < min(first+chunk, rows); r++ {
			p.do(f, w, u, win, o.row(r, inCount, outCount), 0, win.Positions())
			w.Tile.Next = nil
		}
	})
}

// weightsOf returns the weights of unit i, or nil if unit i does not exist.
func (p *product) weightsOf(i int) []float32 {
	if i >= len(p.units) || p.matrix != nil {
		return nil
	}
	section := &p.packed.sections[p.units[i].section]
	return section.window.Packed(section.data, p.units[i].panel)
}

// step returns the number of positions of the largest tile.
func (p *product) step() int {
	if p.matrix != nil {
		return kernel.MatrixPositions
	}
	return positionStep
}

// row returns the operands of row r. If the result is stored among the channels of a larger value, its
// slice may end before a whole row of that value does.
func (o *operands) row(r, inCount, outCount int) operands {
	end := min((r+1)*outCount, len(o.out))
	return operands{out: o.out[r*outCount : end], in: o.in[r*inCount : (r+1)*inCount],
		end: o.end.From(r * outCount)}
}

// cutPositions returns range i of n positions in whole tiles.
func cutPositions(i, ranges, n int) (from, to int) {
	first, last := schedule.RangeOf(i, ranges, (n+positionStep-1)/positionStep)
	return min(first*positionStep, n), min(last*positionStep, n)
}

// rowOf returns the operands of row i of the current node's product.
func rowOf(c *plan.Compiler, x, y *run.Value) func(f *run.Frame, w *run.Worker, i int) operands {
	epilogue := c.Epilogue()
	return func(f *run.Frame, w *run.Worker, i int) operands {
		return operands{f.At(y, w, i), f.At(x, w, i), epilogue.Row(f, w, i)}
	}
}

// rowsOf returns the operands of all rows of the current node's product.
func rowsOf(c *plan.Compiler, x, y *run.Value) func(f *run.Frame) operands {
	epilogue := c.Epilogue()
	return func(f *run.Frame) operands { return operands{f.F32(y), f.F32(x), epilogue.Rows(f)} }
}

// productAction packs the weights, if they have changed, and computes y.
func productAction(c *plan.Compiler, g *Geometry, p *product, x, y *run.Value) run.Action {
	inserts := p.matrix == nil && p.alike() && c.Epilogue().Plus == nil
	if p.alike() {
		c.OnLayout(func() { p.locate(x, y) })
	}
	if p.weights > c.Schedule().Weights {
		rows := rowsOf(c, x, y)
		p.exclusive = true
		c.AllowPassing(p.weights / 4)
		a := run.Whole(func(f *run.Frame) error {
			p.apply(f, rows(f), x.Count, y.RowStep())
			p.packed.pass()
			return nil
		}).After(p.prepare)
		a.Weights, a.Inserts = p.weights, inserts
		return a
	}
	row := rowOf(c, x, y)
	a := &run.ByRows{Prepare: p.prepare, Work: p.work(),
		Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			p.row(f, w, row(f, w, i), piece, pieces)
		}}
	a.Inserts = inserts
	if p.alike() {
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) { p.span(f, w, row(f, w, i), from, to) }
		a.Positions, a.Step, a.Width, a.Pointwise = y.Positions, p.step(), y.Channels, g.pointwise()
		a.Rings = p.matrix == nil
	}
	return a
}

// pointwise reports whether a position of the result depends only on the same position of
// the input.
func (g *Geometry) pointwise() bool {
	return g.taps == 1 && g.Stride == [2]int{1, 1} && g.Pad == [4]int{}
}

// positionStep is the number of positions of the largest tile of a window.
const positionStep = kernel.WindowPositions

// buildGEMM builds a product by windows: implicit GEMM.
func buildGEMM(c *plan.Compiler, g *Geometry, key string, sections func() []packSection, x *run.Value,
	t *filter, y *run.Value) run.Action {
	return productAction(c, g, newProduct(packFor(c, t, g.key(key), sections), t), x, y)
}
