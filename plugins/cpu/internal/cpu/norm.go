package cpu

import (
	"math"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// normOps are the operations of batch norm (NUMERICS 1).
var normOps = map[graph.Op]func(c *compiler) action{
	graph.Moments:             buildMoments,
	graph.RunningMoments:      buildRunningMoments,
	graph.SelectMoments:       buildSelectMoments,
	graph.Normalise:           buildNormalise,
	graph.NormaliseGradSums:   buildNormaliseGradSums,
	graph.NormaliseGradInput:  buildNormaliseGradInput,
	graph.NormaliseGradParams: buildNormaliseGradParams,
	graph.BatchNorm:           buildBatchNorm,
}

// stats is a view of moments: n, then C means, then C sums of squared deviations.
type stats []float64

func (m stats) channels() int         { return len(m) / 2 }
func (m stats) means() []float64      { return m[1 : 1+len(m)/2] }
func (m stats) deviations() []float64 { return m[1+len(m)/2:] }

// inverse returns 1/sqrt(Q/|n| + eps) of channel c; moments of nothing have variance 0.
func (m stats) inverse(c int, eps float64) float64 {
	variance := 0.0
	if m[0] != 0 {
		variance = m.deviations()[c] / math.Abs(m[0])
	}
	return 1 / math.Sqrt(variance+eps)
}

func buildMoments(c *compiler) action {
	x, m, kernels := c.in(0), c.out(0), c.kernels
	o := blockwise{x: x, total: m, operands: []*value{x},
		part: func(f *frame, _ int, part []float64, in [][]float32) {
			mean := means(part, kernels.Sums, in[0])
			kernels.Deviations(stats(part).deviations(), mean, in[0])
		},
		half: func(f *frame, _ int, part []float64, in [][]uint16) {
			mean := means(part, kernels.SumsHalf, in[0])
			kernels.DeviationsHalf(stats(part).deviations(), mean, in[0])
		},
		add: func(total, part []float64) { collective.Merge(total, total, part) }}
	return o.action(c)
}

// means begins the moments of one block, which are computed in two passes: it
// sets the number of values and their means, and returns these.
func means[T any](m stats, sums func(sum []float64, x []T), x []T) []float64 {
	clear(m)
	m[0] = float64(len(x) / m.channels())
	sums(m.means(), x)
	for c := range m.means() {
		m.means()[c] /= m[0]
	}
	return m.means()
}

func buildRunningMoments(c *compiler) action {
	mean, variance, m := c.in(0), c.in(1), c.out(0)
	return whole(func(f *frame) error {
		out := stats(f.f64(m))
		out[0] = -1
		for i, v := range f.f32(mean) {
			out.means()[i], out.deviations()[i] = float64(v), float64(f.f32(variance)[i])
		}
		return nil
	})
}

func buildSelectMoments(c *compiler) action {
	m, running, y, least := c.in(0), c.in(1), c.out(0), float64(c.node.Int("min"))
	return whole(func(f *frame) error {
		for r := range f.rows {
			from := row(f.f64(m), m, r)
			if from[0] < least {
				from = f.f64(running)
			}
			copy(row(f.f64(y), y, r), from)
		}
		return nil
	})
}

// affines holds one Affine per set of statistics, and the slopes that the
// gradient needs beside it.
type affines struct {
	sets   []kernel.Affine
	slopes [][]float32
}

// room makes room for n sets of so many channels.
func (a *affines) room(n, channels int) {
	for len(a.sets) < n {
		a.sets = append(a.sets, kernel.NewAffine(channels))
		a.slopes = append(a.slopes, make([]float32, channels))
	}
}

// of returns which set a row uses.
func (f *frame) setOf(m *value, row int) int {
	if m.Kind == graph.Replica {
		return f.replica(row)
	}
	return 0
}

func buildNormalise(c *compiler) action {
	x, m, gamma, beta := c.in(0), c.in(1), c.in(2), c.in(3)
	eps, a := c.node.Float("eps"), &affines{}
	prepare := func(f *frame) error {
		a.room(f.units(m.Kind), x.channels)
		for r := range f.units(m.Kind) {
			s := stats(row(f.f64(m), m, r))
			for ch, g := range f.f32(gamma) {
				a.sets[r].Set(ch, s.means()[ch], float64(g)*s.inverse(ch, eps), float64(f.f32(beta)[ch]))
			}
		}
		return nil
	}
	return c.normaliseAction(x, prepare, func(f *frame, i int) kernel.Affine { return a.sets[f.setOf(m, i)] })
}

// normaliseAction normalises rows by the numbers that set returns for each,
// and does what was fused with the node.
func (c *compiler) normaliseAction(x *value, prepare func(*frame) error,
	set func(f *frame, i int) kernel.Affine) action {
	y, ending := c.out(0), c.ending()
	maps := []*value{x, y, ending.plus}
	span := func(f *frame, w *worker, i, from, to int) {
		from, to = from*x.channels, to*x.channels
		if halves(maps...) {
			f.kernels.NormaliseHalf(f.half(y, w, i)[from:to], f.half(x, w, i)[from:to], set(f, i),
				ending.half(f, w, i, from))
			return
		}
		f.kernels.Normalise(f.at(y, w, i)[from:to], f.at(x, w, i)[from:to], set(f, i),
			ending.row(f, w, i).From(from))
	}
	return bySpan(action{prepare: prepare, work: x.count / 8, span: span, positions: x.positions, step: 1,
		width: x.channels, pointwise: true, asHalves: [][]*value{maps}})
}

// pixels returns where the positions of part i of a row begin and end.
func (v *value) pixels(i, parts int) (from, to int) {
	return v.positions * i / parts * v.channels, v.positions * (i + 1) / parts * v.channels
}

func buildBatchNorm(c *compiler) action {
	x, gamma, beta, mean, variance := c.in(0), c.in(1), c.in(2), c.in(3), c.in(4)
	eps, a := c.node.Float("eps"), kernel.NewAffine(x.channels)
	changed := changes(gamma, beta, mean, variance)
	prepare := func(f *frame) error {
		if !changed() {
			return nil
		}
		for ch, g := range f.f32(gamma) {
			s := 1 / math.Sqrt(float64(f.f32(variance)[ch])+eps)
			a.Set(ch, float64(f.f32(mean)[ch]), float64(g)*s, float64(f.f32(beta)[ch]))
		}
		return nil
	}
	return c.normaliseAction(x, prepare, func(*frame, int) kernel.Affine { return a })
}
