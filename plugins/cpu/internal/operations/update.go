package operations

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// updateOps are the optimizers. Each is an exact sequence of correctly rounded float32 operations, in the
// order in which it is written. Constants are rounded once before.
var updateOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.SGD:        buildSGD,
	graph.AdamW:      buildAdamW,
	graph.LARS:       buildLARS,
	graph.EMA:        buildEMA,
	graph.SumSquares: buildSumSquares,
	graph.TrustRatio: buildTrustRatio,
	graph.ClipFactor: buildClipFactor,
}

// constant returns an attribute as float32.
func constant(c *plan.Compiler, key string) float32 { return float32(c.Node().Float(key)) }

// operands returns all operands and all results of the current node.
func operands(c *plan.Compiler) (in, out []*run.Value) {
	for i := range c.Node().In {
		in = append(in, c.In(i))
	}
	for i := range c.Node().Out {
		out = append(out, c.Out(i))
	}
	return in, out
}

// elements returns the elements of values.
func elements(f *run.Frame, values []*run.Value) [][]float32 {
	all := make([][]float32, len(values))
	for i, v := range values {
		all[i] = f.F32(v)
	}
	return all
}

// update returns an action that calls do for spans of the elements of all operands and results. An operand
// may be a scalar. While results are in the cache, the action checks whether they are finite.
func update(c *plan.Compiler, do func(in, out [][]float32, from, to int)) run.Action {
	ins, outs := operands(c)
	for _, v := range outs {
		v.SetChecked()
	}
	return run.Whole(func(f *run.Frame) error {
		in, out := elements(f, ins), elements(f, outs)
		f.EachSpan(len(out[0]), func(_ *run.Worker, from, to int) {
			for at := from; at < to; at += judgedAtOnce {
				end := min(at+judgedAtOnce, to)
				do(in, out, at, end)
				for _, x := range out {
					if !f.Kernels.AllFinite(x[at:end]) {
						f.NotFinite()
					}
				}
			}
		})
		return nil
	})
}

// judgedAtOnce is the number of elements that are updated before they are checked, so that they stay in
// the nearest caches.
const judgedAtOnce = 2048

func buildSGD(c *plan.Compiler) run.Action {
	o, kernels := kernel.SGD{Momentum: constant(c, "momentum"), Decay: constant(c, "weight_decay"),
		Nesterov: c.Node().Bool("nesterov")}, c.Kernels()
	return update(c, func(in, out [][]float32, from, to int) {
		step := o
		step.Rate = in[3][0]
		kernels.Step(out[0][from:to], out[1][from:to], in[0][from:to], in[1][from:to], in[2][from:to], step)
	})
}

func buildAdamW(c *plan.Compiler) run.Action {
	rest1, rest2 := float32(1-c.Node().Float("beta1")), float32(1-c.Node().Float("beta2"))
	beta2, eps, decay := constant(c, "beta2"), constant(c, "eps"), constant(c, "weight_decay")
	return update(c, func(in, out [][]float32, from, to int) {
		w, g, m, v := in[0][from:to], in[1][from:to], in[2][from:to], in[3][from:to]
		shrink, step, root := float32(in[4][0]*decay), in[5][0], in[6][0]
		w1, m1, v1 := out[0][from:to], out[1][from:to], out[2][from:to]
		for i := range w {
			m1[i] = m[i] + float32(rest1*(g[i]-m[i]))
			v1[i] = float32(beta2*v[i]) + float32(rest2*float32(g[i]*g[i]))
			size := float32(sqrt32(v1[i])*root) + eps
			w1[i] = (w[i] - float32(shrink*w[i])) - float32(step*(m1[i]/size))
		}
	})
}

// sqrt32 returns the correctly rounded root. The float64 root has more than twice the
// digits, so the second rounding is harmless (Figueroa 1995).
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func buildLARS(c *plan.Compiler) run.Action {
	momentum, decay := constant(c, "momentum"), constant(c, "weight_decay")
	return update(c, func(in, out [][]float32, from, to int) {
		w, g, v, rate := in[0][from:to], in[1][from:to], in[2][from:to], float32(in[3][0]*in[4][0])
		w1, v1 := out[0][from:to], out[1][from:to]
		for i := range w {
			d := g[i] + float32(decay*w[i])
			v1[i] = float32(momentum*v[i]) + float32(rate*d)
			w1[i] = w[i] - v1[i]
		}
	})
}

func buildEMA(c *plan.Compiler) run.Action {
	rest := float32(1 - c.Node().Float("decay"))
	return update(c, func(in, out [][]float32, from, to int) {
		average, w, next := in[0][from:to], in[1][from:to], out[0][from:to]
		for i := range w {
			next[i] = average[i] + float32(rest*(w[i]-average[i]))
		}
	})
}

// buildTrustRatio computes eta*|w| / (|g| + weight_decay*|w| + eps) in float64. If a norm is 0, the result
// is 1.
func buildTrustRatio(c *plan.Compiler) run.Action {
	weight, gradient, y := c.In(0), c.In(1), c.Out(0)
	eta, decay, eps := c.Node().Float("eta"), c.Node().Float("weight_decay"), c.Node().Float("eps")
	return run.Whole(func(f *run.Frame) error {
		a, b := math.Sqrt(f.F64(weight)[0]), math.Sqrt(f.F64(gradient)[0])
		ratio := 1.0
		if a != 0 && b != 0 {
			ratio = float64(eta*a) / (b + float64(decay*a) + eps)
		}
		f.F32(y)[0] = float32(ratio)
		return nil
	})
}

// buildClipFactor computes min(1, max/(norm + 1e-6)) in float64.
func buildClipFactor(c *plan.Compiler) run.Action {
	sum, y, most := c.In(0), c.Out(0), c.Node().Float("max")
	return run.Whole(func(f *run.Frame) error {
		f.F32(y)[0] = float32(min(1, most/(math.Sqrt(f.F64(sum)[0])+1e-6)))
		return nil
	})
}
