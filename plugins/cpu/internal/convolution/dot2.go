package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// At precision bf16 values are multiplied in pairs: VDPBF16PS multiplies two neighbouring values of a run
// by two weights and adds both products to one float32 sum. Weights are rounded to bfloat16 and packed in
// pairs, [taps][run/2][channels][2]:
//
// 	run      k0 k1 | k2 k3 | ...
// 	weights  (o0: k0 k1) (o1: k0 k1) ... (o63: k0 k1)       one row for a pair of values
//
// Matrix units that support the shape use the same rows as tiles of 16 channels by 16
// pairs. An operand that is stored as float32 is first narrowed into the worker's memory;
// an operand that is stored as bfloat16 is read in place.

// dot2Product computes rows of a product by pairs of bfloat16, as the type product computes them by windows
// of float32. The scales of a folded batch norm multiply the sums.
type dot2Product struct {
	packed      *dot2Pack
	filter      *filter
	kernels     *kernel.Set
	round       bool // results are stored as bfloat16
	scale, bias []float32
	first       []int // for each section, where its channels begin in scale and bias
	units       []unit
	atOnce      int // number of panels in a unit
}

func newDot2Product(c *plan.Compiler, p *dot2Pack, t *filter, y *run.Value) *dot2Product {
	out := &dot2Product{packed: p, filter: t, kernels: c.Kernels(), round: c.HoldsBF16(y), atOnce: 1}
	if p.sections[0].matrix != nil {
		out.atOnce = panelsAtOnce(p.Bytes(), c.Schedule().Weights)
	}
	channels := 0
	for i, section := range p.sections {
		out.first = append(out.first, channels)
		channels += section.pairs.BiasLen()
		for panel := 0; panel < section.pairs.Panels(); panel += out.atOnce {
			out.units = append(out.units, unit{i, panel})
		}
	}
	return out
}

// prepare packs the weights and the epilogue's parameters if they have changed.
func (p *dot2Product) prepare(f *run.Frame) error {
	p.packed.fill(f, p.filter.weight)
	if !p.filter.prepare(f) {
		return nil
	}
	p.scale, p.bias = p.scale[:0], p.bias[:0]
	for _, section := range p.packed.sections {
		spare := make([]float32, section.pairs.BiasLen()-section.pairs.Width)
		if len(p.filter.add) > 0 {
			p.bias = append(append(p.bias, p.filter.add[section.out:][:section.pairs.Width]...), spare...)
		}
		if p.filter.factors != nil {
			for _, s := range p.filter.factors[section.out:][:section.pairs.Width] {
				p.scale = append(p.scale, float32(s))
			}
			p.scale = append(p.scale, spare...)
		}
	}
	return nil
}

// dot2Operands has the operands and the result of one row of a product by pairs. If an image is not stored
// as bfloat16, the parts of it that are read are narrowed in the worker's private memory.
type dot2Operands struct {
	out   []float32
	half  []uint16 // the result, if it is stored as bfloat16
	in    []uint16 // the image as bfloat16; nil until it is narrowed
	image []float32
	end   kernel.Epilogue
}

// slice returns the operands without the first out values of the result and the first in values of the
// image.
func (o dot2Operands) slice(out, in int) dot2Operands {
	if o.half != nil {
		o.half = o.half[out:]
	} else {
		o.out = o.out[out:]
	}
	o.in, o.end = o.in[in:], o.end.From(out)
	return o
}

// Each operand and result of a product by pairs may independently be a half (a value that is stored as
// bfloat16). Images are read in place. Results of matrix units are an exception: they are always float32.

// asHalves returns the values of the product that may be halves. Results of matrix units are not included.
func (p *dot2Product) asHalves(c *plan.Compiler, x, y *run.Value) [][]*run.Value {
	sets := imageAndResult(c, x, y)
	if p.packed.sections[0].matrix != nil {
		sets = sets[:len(sets)-1]
	}
	return sets
}

// rowOf returns the operands of row i of the current node's product by pairs.
func (p *dot2Product) rowOf(c *plan.Compiler, x, y *run.Value) func(f *run.Frame, w *run.Worker,
	i int) dot2Operands {
	epilogue, useMatrix := c.Epilogue(), p.packed.sections[0].matrix != nil
	return func(f *run.Frame, w *run.Worker, i int) dot2Operands {
		o := dot2Operands{end: epilogue.Row(f, w, i)}
		if y.IsHalf() && !useMatrix {
			o.half = f.Half(y, w, i)
		} else {
			o.out = f.At(y, w, i)
		}
		if x.IsHalf() {
			o.in = f.Half(x, w, i)
		} else {
			o.image = f.At(x, w, i)
		}
		return o
	}
}

// rowsOf returns the operands of all rows of the current node's product by pairs. Images of float32 are
// converted to bfloat16.
func (p *dot2Product) rowsOf(c *plan.Compiler, x, y *run.Value) func(f *run.Frame) dot2Operands {
	epilogue, kernels, workspace := c.Epilogue(), c.Kernels(), c.Temp(0, 0, 2*x.Count)
	c.OnLayout(func() {
		if x.IsHalf() {
			workspace.Drop()
		}
	})
	return func(f *run.Frame) dot2Operands {
		o := dot2Operands{end: epilogue.Rows(f)}
		if y.IsHalf() {
			o.half = layout.View[uint16](f.Bytes(y))
		} else {
			o.out = f.F32(y)
		}
		if x.IsHalf() {
			o.in = layout.View[uint16](f.Bytes(x))
			return o
		}
		o.in = run.Temp[uint16](f, workspace, f.Total()*x.Count)
		image := f.F32(x)
		f.EachSpan(len(o.in), func(_ *run.Worker, from, to int) {
			kernels.NarrowBF16(o.in[from:to], image[from:to])
		})
		return o
	}
}

// finish returns the scale, the bias and the rounding for the sums of a section, without the epilogue.
func (p *dot2Product) finish(section int) kernel.ScaledEpilogue {
	f := kernel.ScaledEpilogue{Round: p.round}
	if len(p.bias) > 0 {
		f.Bias = p.bias[p.first[section]:]
	}
	if len(p.scale) > 0 {
		f.Scale = p.scale[p.first[section]:]
	}
	return f
}

// do computes positions [from, to) of a unit: the products of these pairs with the unit's weights.
func (p *dot2Product) do(w *run.Worker, u unit, pairs *kernel.Pairs, o dot2Operands, from, to int) {
	section := &p.packed.sections[u.section]
	o = o.slice(section.out, section.in)
	finish := p.finish(u.section)
	finish.Epilogue = o.end
	if m := section.matrix; m != nil {
		last := min(u.panel+p.atOnce, m.Panels())
		p.kernels.MatrixBF16(m, u.panel, last, o.out, o.in, section.data, finish, from, to, &w.Matrix)
		return
	}
	if o.half != nil {
		p.kernels.PairsHalf(pairs, u.panel, o.half, o.in, section.data, finish, from, to, &w.Tile)
		return
	}
	p.kernels.Pairs(pairs, u.panel, o.out, o.in, section.data, finish, from, to, &w.Tile)
}

// alike reports whether all sections use the same window.
func (p *dot2Product) alike() bool {
	for _, section := range p.packed.sections {
		if section.pairs != p.packed.sections[0].pairs {
			return false
		}
	}
	return true
}

// step returns the number of positions of the largest tile.
func (p *dot2Product) step() int {
	if p.packed.sections[0].matrix != nil {
		return kernel.MatrixPositions
	}
	return positionStep
}

// work estimates the time of a row in nanoseconds, at 200 multiply-adds per nanosecond.
func (p *dot2Product) work() (ns int) {
	for _, section := range p.packed.sections {
		ns += len(section.data) * section.pairs.Positions() / 200
	}
	return ns
}

// cut divides the positions of every section of one row into pieces parts, and computes the part with index
// piece.
func (p *dot2Product) cut(w *run.Worker, o dot2Operands, piece, pieces int) {
	low, high := max(len(o.in), len(o.image)), 0
	for i := range p.packed.sections {
		section := &p.packed.sections[i]
		l, h := section.pairs.Reach(cutPositions(piece, pieces, section.pairs.Positions()))
		if l < h {
			low, high = min(low, l), max(high, section.in+h)
		}
	}
	p.narrow(w, &o, low, high)
	for _, u := range p.units {
		pairs := p.packed.sections[u.section].pairs
		from, to := cutPositions(piece, pieces, pairs.Positions())
		p.do(w, u, pairs, o, from, to)
	}
}

// span computes positions [from, to) of one row. All sections must use the same window.
func (p *dot2Product) span(w *run.Worker, o dot2Operands, from, to int) {
	low, high := p.packed.sections[0].pairs.Reach(from, to)
	p.narrow(w, &o, low, min(high+p.packed.sections[len(p.packed.sections)-1].in, len(o.image)))
	for _, u := range p.units {
		p.do(w, u, p.packed.sections[u.section].pairs, o, from, to)
	}
}

// narrow rounds the values [low, high) of an image to bfloat16, unless they are bfloat16 already.
func (p *dot2Product) narrow(w *run.Worker, o *dot2Operands, low, high int) {
	if o.in != nil {
		return
	}
	o.in = w.Halves(len(o.image))
	if low < high {
		p.kernels.NarrowBF16(o.in[low:high], o.image[low:high])
	}
}

// apply computes all rows of the product. Each time it reads the weights, it uses them for several rows.
func (p *dot2Product) apply(f *run.Frame, o dot2Operands, inCount, outCount int) {
	rows := f.Total()
	chunk := max(1, min(8, rows/(2*f.Threads())))
	blocks := (rows + chunk - 1) / chunk
	f.Each(len(p.units)*blocks, func(w *run.Worker, task int) {
		u, first := p.units[task/blocks], task%blocks*chunk
		pairs := p.packed.sections[u.section].pairs
		for r := first; r < min(first+chunk, rows); r++ {
			p.do(w, u, pairs, o.slice(r*outCount, r*inCount), 0, pairs.Positions())
		}
	})
}

// buildDot2 builds the current node, a convolution or the gradient for its input, by pairs of bfloat16.
func buildDot2(c *plan.Compiler, g *Geometry, p *dot2Pack, x *run.Value, t *filter,
	y *run.Value) run.Action {
	k := newDot2Product(c, p, t, y)
	if int(k.packed.Bytes()) > c.Schedule().Weights {
		rows := k.rowsOf(c, x, y)
		a := run.Whole(func(f *run.Frame) error {
			k.apply(f, rows(f), x.Count, y.Count)
			return nil
		}).After(k.prepare)
		a.Rounds, a.AsHalves, a.Weights = true, k.asHalves(c, x, y), int(k.packed.Bytes())
		return a
	}
	row := k.rowOf(c, x, y)
	a := &run.ByRows{Prepare: k.prepare, Work: k.work(),
		Storage: run.Storage{Rounds: true, AsHalves: k.asHalves(c, x, y)},
		Row:     func(f *run.Frame, w *run.Worker, i, piece, pieces int) { k.cut(w, row(f, w, i), piece, pieces) }}
	if k.alike() {
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) { k.span(w, row(f, w, i), from, to) }
		a.Positions, a.Step, a.Width, a.Pointwise = y.Positions, k.step(), y.Channels, g.pointwise()
	}
	return a
}

// denseDot2 compiles a product of rows and a matrix by pairs.
func denseDot2(c *plan.Compiler, p *dot2Pack, d *denseWindows, in *run.Value, t *filter,
	out *run.Value) run.Action {
	k := newDot2Product(c, p, t, out)
	rows := k.rowsOf(c, in, out)
	a := run.Whole(func(f *run.Frame) error {
		n, o := f.Total(), rows(f)
		blocks := (n + denseRows - 1) / denseRows
		d.pairsOf(min(denseRows, n))
		d.pairsOf(n % denseRows)
		f.Each(len(k.units)*blocks, func(w *run.Worker, task int) {
			first := task % blocks * denseRows
			some, count := o.slice(first*d.width, first*d.k), min(denseRows, n-first)
			k.do(w, k.units[task/blocks], d.pairsOf(count), some, 0, count)
		})
		return nil
	}).After(k.prepare)
	a.Rounds, a.AsHalves = true, k.asHalves(c, in, out)
	return a
}
