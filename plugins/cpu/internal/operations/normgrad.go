package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/fusion"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

func buildNormaliseGradSums(c *plan.Compiler) run.Action {
	x, dy, m, sums, kernels := c.In(0), c.In(1), c.In(2), c.Out(0), c.Kernels()
	switch mask, ok := c.Mask(); {
	case ok && mask.Slope != nil:
		return slopeSums(c, mask, x, dy, m, sums)
	case ok:
		return maskedSums(c, mask, x, dy, m, sums)
	}
	o := blockwise{x: x, total: sums, operands: []*run.Value{x, dy}, add: addTo[float64],
		compute: func(f *run.Frame, w *run.Worker, i int, partial []float64, in [][]float32) {
			s1, s2, mean := gradientSums(f, partial, m, i)
			kernels.GradientSums(s1, s2, mean, in[0], in[1], &w.Sums)
		},
		computeHalf: func(f *run.Frame, w *run.Worker, i int, partial []float64, in [][]uint16) {
			s1, s2, mean := gradientSums(f, partial, m, i)
			kernels.GradientSumsHalf(s1, s2, mean, in[0], in[1], &w.Sums)
		}}
	return o.action(c)
}

// gradientSums returns the means for row i, and the parts of partial in which its two sums are stored.
func gradientSums(f *run.Frame, partial []float64, moments *run.Value, i int) (s1, s2, mean []float64) {
	of := stats(run.Row(f.F64(moments), moments, setOf(f, moments, i)))
	return partial[:of.channels()], partial[of.channels():], of.means()
}

// slopeSums computes the gradient of an activation other than a relu, and sums it. The value that the
// activation saves is an operand, or is computed again. Computing it costs less than writing it in the
// forward pass and reading it here.
func slopeSums(c *plan.Compiler, mask fusion.Mask, x, dy, moments, sums *run.Value) run.Action {
	kernels, of := c.Kernels(), mask.Slope
	activation, _ := graph.ActivationNamed(of.Text("of"))
	derivative := class.Derivative32(of)
	n0, n1 := class.Numbers(of, activation)
	o := blockwise{x: x, total: sums, operands: []*run.Value{x, c.Out(1), dy}, add: addTo[float64]}
	a, next := &affines{}, 4
	if mask.Norm != nil {
		next = 5
	} else {
		o.operands = append(o.operands, c.In(3))
	}
	if mask.Plus {
		o.operands = append(o.operands, c.In(next))
	}
	o.compute = func(f *run.Frame, w *run.Worker, i int, partial []float64, in [][]float32) {
		s1, s2, mean := gradientSums(f, partial, moments, i)
		dx := in[1]
		kernels.MadeSums(s1, s2, mean, in[0], dx, &w.Sums, func(from, to int) {
			made, dy := dx[from:to], in[2][from:to]
			if mask.Plus {
				kernels.Add(made, dy, in[len(in)-1][from:to])
				dy = made
			}
			var saved []float32
			if mask.Norm == nil {
				saved = in[3][from:to]
			} else {
				saved = w.Floats(to - from)
				kernels.Normalise(saved, in[0][from:to], a.sets[setOf(f, moments, i)], kernel.Epilogue{})
			}
			kernels.ApplyGradient(functions[activation], made, saved, dy, n0, n1, derivative)
		})
	}
	action := o.action(c)
	if rows, ok := action.(*run.ByRows); ok {
		rows.Over = []*run.Value{dy}
		if mask.Norm != nil {
			gamma, beta, eps := c.In(3), c.In(4), mask.Norm.Float("eps")
			rows.Prepare = func(f *run.Frame) error {
				a.normalise(f, moments, gamma, beta, eps)
				return nil
			}
		}
	}
	return action
}

// maskedSums compiles the gradient of a relu or relu6 together with the sums of this gradient.
func maskedSums(c *plan.Compiler, mask fusion.Mask, x, dy, moments, sums *run.Value) run.Action {
	kernels, bf16 := c.Kernels(), c.BF16()
	o := blockwise{x: x, total: sums, operands: []*run.Value{x, c.Out(1), dy, c.In(3)}, add: addTo[float64]}
	if mask.Plus {
		o.operands = append(o.operands, c.In(4))
	}
	o.compute = func(f *run.Frame, w *run.Worker, i int, partial []float64, in [][]float32) {
		s1, s2, mean := gradientSums(f, partial, moments, i)
		m := kernel.Mask{Y: in[3], Most: mask.Most}
		dx, dy := in[1], in[2]
		switch {
		case mask.Plus && bf16:
			kernels.Add(dx, dy, in[4])
			kernels.RoundBF16(dx)
			dy = dx
		case mask.Plus:
			m.Plus = in[4]
		}
		kernels.MaskedSums(s1, s2, mean, in[0], dx, dy, m, &w.Sums)
	}
	o.computeHalf = func(f *run.Frame, w *run.Worker, i int, partial []float64, in [][]uint16) {
		s1, s2, mean := gradientSums(f, partial, moments, i)
		m := kernel.HalfMask{Y: in[3], Most: mask.Most}
		if mask.Plus {
			m.Plus = in[4]
		}
		kernels.MaskedSumsHalf(s1, s2, mean, in[0], in[1], in[2], m, &w.Sums)
	}
	a := o.action(c)
	a.Stores().Rounds = true
	if rows, ok := a.(*run.ByRows); ok {
		rows.Over = []*run.Value{dy}
	}
	return a
}

func buildNormaliseGradInput(c *plan.Compiler) run.Action {
	x, dy, m, sums, gamma, dx := c.In(0), c.In(1), c.In(2), c.In(3), c.In(4), c.Out(0)
	eps, a, kernels := c.Node().Float("eps"), &affines{}, c.Kernels()
	prepare := func(f *run.Frame) error {
		a.grow(f.Units(m.Kind), x.Channels)
		for r := range f.Units(m.Kind) {
			a.gradient(r, stats(run.Row(f.F64(m), m, r)), run.Row(f.F64(sums), sums, r), f.F32(gamma), eps)
		}
		return nil
	}
	maps := []*run.Value{x, dy, dx}
	return run.BySpan(&run.ByRows{Prepare: prepare, Work: x.Count / 6,
		Storage: run.Storage{AsHalves: [][]*run.Value{maps}},
		Spans: run.Spans{Positions: x.Positions, Step: 1, Width: x.Channels, Pointwise: true,
			Over: []*run.Value{dy, x}, Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
				from, to = from*x.Channels, to*x.Channels
				set := setOf(f, m, i)
				if run.Halves(maps...) {
					kernels.NormaliseGradientHalf(f.Half(dx, w, i)[from:to], f.Half(x, w, i)[from:to],
						f.Half(dy, w, i)[from:to], a.sets[set], a.slopes[set])
					return
				}
				kernels.NormaliseGradient(f.At(dx, w, i)[from:to], f.At(x, w, i)[from:to], f.At(dy, w, i)[from:to],
					a.sets[set], a.slopes[set])
			}}})
}

// gradient sets the numbers of set r so that dx = gamma*s*((dy - S1/n) - (x-mean)*(s*s*S2/n)), or dx =
// gamma*s*dy if the statistics are constant.
func (a *affines) gradient(r int, m stats, sums []float64, gamma []float32, eps float64) {
	for ch, g := range gamma {
		s := m.inverse(ch, eps)
		shift, slope := 0.0, 0.0
		if m[0] > 0 {
			shift, slope = sums[ch]/m[0], s*s*sums[len(gamma)+ch]/m[0]
		}
		a.sets[r].Set(ch, m.means()[ch], float64(g)*s, shift)
		a.slopes[r][ch] = float32(slope)
	}
}

func buildNormaliseGradParams(c *plan.Compiler) run.Action {
	m, sums, dgamma, dbeta := c.In(0), c.In(1), c.Out(0), c.Out(1)
	eps := c.Node().Float("eps")
	return run.Whole(func(f *run.Frame) error {
		for r := range f.Units(sums.Kind) {
			of := stats(f.F64(m))
			if m.Kind == sums.Kind {
				of = stats(run.Row(f.F64(m), m, r))
			}
			s, gamma := run.Row(f.F64(sums), sums, r), run.Row(f.F32(dgamma), dgamma, r)
			beta := run.Row(f.F32(dbeta), dbeta, r)
			for ch := range gamma {
				gamma[ch], beta[ch] = float32(of.inverse(ch, eps)*s[len(gamma)+ch]), float32(s[ch])
			}
		}
		return nil
	})
}
