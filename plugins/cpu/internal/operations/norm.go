package operations

import (
	"math"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// normOps are the operations of batch norm (docs/numerics.md, section 1).
var normOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.Moments:             buildMoments,
	graph.RunningMoments:      buildRunningMoments,
	graph.SelectMoments:       buildSelectMoments,
	graph.Normalise:           buildNormalise,
	graph.NormaliseGradSums:   buildNormaliseGradSums,
	graph.NormaliseGradInput:  buildNormaliseGradInput,
	graph.NormaliseGradParams: buildNormaliseGradParams,
	graph.BatchNorm:           buildBatchNorm,
}

// stats views the elements of moments: n, then C means, then C sums of squared deviations.
type stats []float64

func (m stats) channels() int         { return len(m) / 2 }
func (m stats) means() []float64      { return m[1 : 1+len(m)/2] }
func (m stats) deviations() []float64 { return m[1+len(m)/2:] }

// inverse returns 1/sqrt(Q/|n| + eps) of channel c. If there are no values, the variance is 0.
func (m stats) inverse(c int, eps float64) float64 {
	variance := 0.0
	if m[0] != 0 {
		variance = m.deviations()[c] / math.Abs(m[0])
	}
	return 1 / math.Sqrt(variance+eps)
}

func buildMoments(c *plan.Compiler) run.Action {
	x, m, kernels := c.In(0), c.Out(0), c.Kernels()
	o := blockwise{x: x, total: m, operands: []*run.Value{x},
		compute: func(_ *run.Frame, w *run.Worker, _ int, partial []float64, in [][]float32) {
			m := stats(partial)
			m[0] = float64(len(in[0]) / m.channels())
			kernels.Moments(m.means(), m.deviations(), in[0], &w.Sums)
		},
		computeHalf: func(_ *run.Frame, w *run.Worker, _ int, partial []float64, in [][]uint16) {
			m := stats(partial)
			m[0] = float64(len(in[0]) / m.channels())
			kernels.MomentsHalf(m.means(), m.deviations(), in[0], &w.Sums)
		},
		add: func(total, partial []float64) { collective.Merge(total, total, partial) }}
	return o.action(c)
}

func buildRunningMoments(c *plan.Compiler) run.Action {
	mean, variance, m := c.In(0), c.In(1), c.Out(0)
	return run.Whole(func(f *run.Frame) error {
		out := stats(f.F64(m))
		out[0] = -1
		for i, v := range f.F32(mean) {
			out.means()[i], out.deviations()[i] = float64(v), float64(f.F32(variance)[i])
		}
		return nil
	})
}

func buildSelectMoments(c *plan.Compiler) run.Action {
	m, running, y, least := c.In(0), c.In(1), c.Out(0), float64(c.Node().Int("min"))
	return run.Whole(func(f *run.Frame) error {
		for r := range f.Rows {
			from := run.Row(f.F64(m), m, r)
			if from[0] < least {
				from = f.F64(running)
			}
			copy(run.Row(f.F64(y), y, r), from)
		}
		return nil
	})
}

// affines has one Affine for each set of statistics, and the slopes for the gradient.
type affines struct {
	sets   []kernel.Affine
	slopes [][]float32
}

// grow makes space for n sets of statistics with the given number of channels.
func (a *affines) grow(n, channels int) {
	for len(a.sets) < n {
		a.sets = append(a.sets, kernel.NewAffine(channels))
		a.slopes = append(a.slopes, make([]float32, channels))
	}
}

// setOf returns the index of the set of statistics that a row uses.
func setOf(f *run.Frame, m *run.Value, row int) int {
	if m.Kind == graph.Replica {
		return f.Replica(row)
	}
	return 0
}

func buildNormalise(c *plan.Compiler) run.Action {
	x, m, gamma, beta := c.In(0), c.In(1), c.In(2), c.In(3)
	eps, a := c.Node().Float("eps"), &affines{}
	prepare := func(f *run.Frame) error {
		a.normalise(f, m, gamma, beta, eps)
		return nil
	}
	return normaliseAction(c, x, prepare,
		func(f *run.Frame, i int) kernel.Affine { return a.sets[setOf(f, m, i)] })
}

// normalise computes all sets for normalising by the moments m.
func (a *affines) normalise(f *run.Frame, m, gamma, beta *run.Value, eps float64) {
	a.grow(f.Units(m.Kind), gamma.Count)
	for r := range f.Units(m.Kind) {
		s := stats(run.Row(f.F64(m), m, r))
		for ch, g := range f.F32(gamma) {
			a.sets[r].Set(ch, s.means()[ch], float64(g)*s.inverse(ch, eps), float64(f.F32(beta)[ch]))
		}
	}
}

// normaliseAction returns an action that normalises rows. set returns the numbers for a row. The action
// also does the work of operations that were fused with the node.
func normaliseAction(c *plan.Compiler, x *run.Value, prepare func(*run.Frame) error,
	set func(f *run.Frame, i int) kernel.Affine) run.Action {
	y, epilogue := c.Out(0), c.Epilogue()
	maps := []*run.Value{x, y, epilogue.Plus}
	span := func(f *run.Frame, w *run.Worker, i, from, to int) {
		from, to = from*x.Channels, to*x.Channels
		if run.Halves(maps...) {
			f.Kernels.NormaliseHalf(f.Half(y, w, i)[from:to], f.Half(x, w, i)[from:to], set(f, i),
				epilogue.Half(f, w, i, from))
			return
		}
		f.Kernels.Normalise(f.At(y, w, i)[from:to], f.At(x, w, i)[from:to], set(f, i),
			epilogue.Row(f, w, i).From(from))
	}
	return run.BySpan(&run.ByRows{Prepare: prepare, Work: x.Count / 8,
		Storage: run.Storage{AsHalves: [][]*run.Value{maps}},
		Spans: run.Spans{Span: span, Positions: x.Positions, Step: 1, Width: x.Channels, Pointwise: true,
			Over: []*run.Value{x}}})
}

func buildBatchNorm(c *plan.Compiler) run.Action {
	x, gamma, beta, mean, variance := c.In(0), c.In(1), c.In(2), c.In(3), c.In(4)
	eps, a := c.Node().Float("eps"), kernel.NewAffine(x.Channels)
	changed := run.Changes(gamma, beta, mean, variance)
	prepare := func(f *run.Frame) error {
		if !changed() {
			return nil
		}
		for ch, g := range f.F32(gamma) {
			s := 1 / math.Sqrt(float64(f.F32(variance)[ch])+eps)
			a.Set(ch, float64(f.F32(mean)[ch]), float64(g)*s, float64(f.F32(beta)[ch]))
		}
		return nil
	}
	return normaliseAction(c, x, prepare, func(*run.Frame, int) kernel.Affine { return a })
}
