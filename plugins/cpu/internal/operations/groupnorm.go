package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// groupNorm normalises groups of contiguous channels.
type groupNorm struct {
	kernels     *kernel.Set
	channels    int
	size        int // number of channels in a group
	eps         float64
	scale, bias *run.Value // may be nil
}

func groupNormOf(c *plan.Compiler) *groupNorm {
	x := c.In(0)
	return &groupNorm{kernels: c.Kernels(), channels: x.Channels,
		size: x.Channels / c.Node().Int("groups"), eps: c.Node().Float("eps")}
}

func buildGroupNorm(c *plan.Compiler) run.Action {
	x, y, g := c.In(0), c.Out(0), groupNormOf(c)
	g.scale, g.bias = c.In(1), c.In(2)
	return &run.ByRows{Work: x.Count / 4, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		in := f.At(x, w, i)
		groups, a := g.groups(w, in), affineIn(w.Floats(4*g.channels), g.channels)
		for ch := range g.channels {
			scale, bias := scaleAndBias(f, g.scale, g.bias, ch)
			a.SetOf(ch, class.NormOf(groups[ch/g.size], g.eps, scale, bias))
		}
		from, to := g.piece(len(in), piece, pieces)
		g.kernels.Normalise(f.At(y, w, i)[from:to], in[from:to], a, kernel.Epilogue{})
	}}
}

// piece returns the range of values of one piece of a row of n values, in whole positions. If workers share
// a row, each of them computes the moments of the whole row, and then normalises its piece.
func (g *groupNorm) piece(n, piece, pieces int) (from, to int) {
	first, last := schedule.RangeOf(piece, pieces, n/g.channels)
	return first * g.channels, last * g.channels
}

// groups returns the moments of each group of a row.
func (g *groupNorm) groups(w *run.Worker, x []float32) [][3]float64 {
	m := moments(w, g.kernels, x, g.channels)
	ofChannels := make([][3]float64, g.channels)
	for ch := range ofChannels {
		ofChannels[ch] = [3]float64{m[0], m.means()[ch], m.deviations()[ch]}
	}
	all := make([][3]float64, g.channels/g.size)
	for i := range all {
		all[i] = class.MergeMoments(ofChannels[i*g.size:][:g.size])
	}
	return all
}

func buildGroupNormGrad(c *plan.Compiler) run.Action {
	x, dy, dx, g := c.In(0), c.In(1), c.Out(0), groupNormOf(c)
	return &run.ByRows{Work: x.Count / 3, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		from, to := g.piece(x.Count, piece, pieces)
		g.gradient(w, f.At(dx, w, i), f.At(x, w, i), f.At(dy, w, i), from, to)
	}}
}

// gradient sets values [from, to) of a row of dx, computed from the rows x and dy.
func (g *groupNorm) gradient(w *run.Worker, dx, x, dy []float32, from, to int) {
	groups, n := g.groups(w, x), g.channels
	scratch := w.Doubles(3 * n)
	means, sums := scratch[:n], scratch[n:]
	for ch := range means {
		means[ch] = groups[ch/g.size][1]
	}
	rowSums(w, g.kernels, sums, means, x, dy)
	numbers := w.Floats(5 * n)
	a, slopes := affineIn(numbers, n), numbers[4*n:]
	ofChannels := make([][2]float64, n)
	for ch := range ofChannels {
		ofChannels[ch] = [2]float64{sums[ch], sums[n+ch]}
	}
	for i, m := range groups {
		of, slope := class.NormGradientOf(m, class.AddSums(ofChannels[i*g.size:][:g.size]), g.eps)
		for ch := i * g.size; ch < (i+1)*g.size; ch++ {
			a.SetOf(ch, of)
			slopes[ch] = slope
		}
	}
	g.kernels.NormaliseGradient(dx[from:to], x[from:to], dy[from:to], a, slopes)
}
