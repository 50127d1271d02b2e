package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// rowNormOps normalise each row separately (device/class/rownorm.go).
var rowNormOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.LayerNorm:     buildLayerNorm,
	graph.LayerNormGrad: buildLayerNormGrad,
	graph.GroupNorm:     buildGroupNorm,
	graph.GroupNormGrad: buildGroupNormGrad,
}

// layerNorm normalises lines: the elements of a row along the normalised axes.
type layerNorm struct {
	lines       *lineLayout
	eps         float64
	scale, bias *run.Value    // may be nil
	affine      kernel.Affine // scale and bias for each channel of the normalised value; its means are 0
}

func buildLayerNorm(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	l := &layerNorm{lines: lineLayoutOf(c, x), eps: c.Node().Float("eps"), scale: c.In(1), bias: c.In(2)}
	l.affine = kernel.NewAffine(l.lines.length)
	a := &run.ByRows{Work: x.Count / 2, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		in, out := f.At(x, w, i), f.At(y, w, i)
		if l.lines.tight {
			l.lines.chunks(piece, pieces, func(from, n int) { l.separate(w, out, in, from, n) })
			return
		}
		l.lines.eachPiece(w, out, [][]float32{in}, piece, pieces, l.sideBySide)
	}}
	var operands []*run.Value
	for _, v := range []*run.Value{l.scale, l.bias} {
		if v != nil {
			operands = append(operands, v)
		}
	}
	changed := run.Changes(operands...)
	a.Prepare = func(f *run.Frame) error {
		if changed() {
			l.prepare(f)
		}
		return nil
	}
	return a
}

// prepare copies scale and bias to the form that kernels read.
func (l *layerNorm) prepare(f *run.Frame) {
	for k := range l.lines.length {
		scale, bias := scaleAndBias(f, l.scale, l.bias, k)
		l.affine.Set(k, 0, scale, bias)
	}
}

// scaleAndBias returns element k of scale and of bias. If one of them is nil, it returns a number with no
// effect.
func scaleAndBias(f *run.Frame, scale, bias *run.Value, k int) (factor, add float64) {
	factor, add = 1, class.NoAdd
	if scale != nil {
		factor = float64(f.F32(scale)[k])
	}
	if bias != nil {
		add = float64(f.F32(bias)[k])
	}
	return factor, add
}

// moments returns n, the means and the sums of squared deviations of n interleaved lines.
func moments(w *run.Worker, kernels *kernel.Set, x []float32, n int) stats {
	partial := w.Doubles(1 + 4*n)[:1+2*n]
	eachSpan(w, n, len(x), partial, func(partial []float64, from, to int) {
		m := stats(partial)
		m[0] = float64((to - from) / n)
		kernels.Moments(m.means(), m.deviations(), x[from:to], &w.Sums)
	}, func(total, partial []float64) { collective.Merge(total, total, partial) })
	return partial
}

// affineIn returns an Affine of n channels in a worker's memory.
func affineIn(scratch []float32, n int) kernel.Affine {
	return kernel.Affine{Hi: scratch[:n:n], Lo: scratch[n : 2*n : 2*n], By: scratch[2*n : 3*n : 3*n],
		Add: scratch[3*n : 4*n : 4*n]}
}

// numbers returns the means and factors with which n interleaved lines are normalised.
func (l *layerNorm) numbers(w *run.Worker, x []float32, n int, scratch []float32) kernel.Affine {
	m, a := moments(w, l.lines.kernels, x, n), affineIn(scratch, n)
	for i := range n {
		a.SetOf(i, class.NormOf([3]float64{m[0], m.means()[i], m.deviations()[i]}, l.eps, 1, class.NoAdd))
	}
	return a
}

// sideBySide normalises interleaved lines. It has the type lineWork.
func (l *layerNorm) sideBySide(w *run.Worker, y []float32, in [][]float32, n int, scratch []float32) {
	l.lines.kernels.Normalise(y, in[0], l.numbers(w, in[0], n, scratch), kernel.Epilogue{})
	if l.scale == nil && l.bias == nil {
		return
	}
	for k := range l.lines.length {
		l.linear(y[k*n:][:n], y[k*n:][:n], l.affine.By[k], l.affine.Add[k])
	}
}

// linear sets y to factor*x + add. The product and the sum are rounded.
func (l *layerNorm) linear(y, x []float32, factor, add float32) {
	l.lines.kernels.Apply(kernel.AffineOf, y, x, factor, add,
		func(v float32) float32 { return float32(factor*v) + add })
}

// separate normalises n separate lines, each with contiguous elements. To compute their sums, it copies the
// lines so that they are interleaved.
func (l *layerNorm) separate(w *run.Worker, y, x []float32, first, n int) {
	size := n * l.lines.length
	scratch := w.Floats(size + 5*n)
	l.lines.gather(scratch[:size], x, first, n)
	a := l.numbers(w, scratch[:size], n, scratch[size:])
	y, x = y[first*l.lines.length:][:size], x[first*l.lines.length:][:size]
	for i := range n {
		yi, xi := y[i*l.lines.length:][:l.lines.length], x[i*l.lines.length:][:l.lines.length]
		l.linear(yi, xi, 1, -a.Hi[i])
		l.linear(yi, yi, 1, -a.Lo[i])
		l.linear(yi, yi, a.By[i], a.Add[i])
	}
	if l.scale != nil || l.bias != nil {
		l.lines.kernels.Normalise(y, y, l.affine, kernel.Epilogue{})
	}
}

func buildLayerNormGrad(c *plan.Compiler) run.Action {
	x, dy, dx := c.In(0), c.In(1), c.Out(0)
	l := &layerNorm{lines: lineLayoutOf(c, x), eps: c.Node().Float("eps")}
	return &run.ByRows{Work: x.Count, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		l.lines.eachPiece(w, f.At(dx, w, i), [][]float32{f.At(x, w, i), f.At(dy, w, i)}, piece, pieces, l.gradient)
	}}
}

// gradient computes the gradient of interleaved lines from x and dy. It has the type lineWork.
func (l *layerNorm) gradient(w *run.Worker, dx []float32, in [][]float32, n int, scratch []float32) {
	x, dy := in[0], in[1]
	m := moments(w, l.lines.kernels, x, n)
	sums := w.Doubles(1 + 4*n)[1+2*n:]
	rowSums(w, l.lines.kernels, sums, m.means(), x, dy)
	a, slopes := affineIn(scratch, n), scratch[4*n:5*n]
	for i := range n {
		of, slope := class.NormGradientOf([3]float64{m[0], m.means()[i], m.deviations()[i]},
			[2]float64{sums[i], sums[n+i]}, l.eps)
		a.SetOf(i, of)
		slopes[i] = slope
	}
	l.lines.kernels.NormaliseGradient(dx, x, dy, a, slopes)
}

// rowSums sets sums to the sums S1 and S2 of the gradient, for adjacent channels with the given means.
func rowSums(w *run.Worker, kernels *kernel.Set, sums, means []float64, x, dy []float32) {
	n := len(means)
	eachSpan(w, n, len(x), sums, func(partial []float64, from, to int) {
		kernels.GradientSums(partial[:n], partial[n:], means, x[from:to], dy[from:to], &w.Sums)
	}, addTo[float64])
}
