package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// winograd is a convolution by tiles (kernel.Winograd). Tiles whose operands
// lie too far apart are computed by windows: see suspects.
type winograd struct {
	*conv
	kernel.Winograd
	rows, columns int // of tiles in an image
	weights       *winogradPack
	direct        *product
	bias          []float32
}

// byTiles returns the tiles with which the convolution is computed, and whether
// there are any. Like strips it is a function of shape and kernel class. Small
// tiles keep the transformed weights of wide layers in bounds.
func (g *conv) byTiles(set *kernel.Set) (kernel.Winograd, bool) {
	const wide = 256 * 256
	side := 4
	if g.c*g.o > wide {
		side = 2
	}
	return kernel.Winograd{Side: side, In: g.c, Out: g.o}, set.Class == "fma" && g.Groups == 1 &&
		g.Kernel == [2]int{3, 3} && g.Stride == [2]int{1, 1} && g.Dilation == [2]int{1, 1} &&
		g.Pad == [4]int{1, 1, 1, 1} && g.c%kernel.Lanes == 0 && g.o%kernel.Lanes == 0 && g.c > kernel.Lanes &&
		min(g.h, g.w) >= side
}

// buildWinograd is a convolution by tiles; with back, weight is that of the
// convolution whose gradient it computes, which direct computes too.
func (c *compiler) buildWinograd(g *conv, t kernel.Winograd, direct *product, x, weight, bias, y *value,
	back bool) action {
	k := &winograd{conv: g, Winograd: t, rows: (g.h + t.Side - 1) / t.Side, columns: (g.w + t.Side - 1) / t.Side,
		direct: direct, bias: make([]float32, g.o)}
	what := "winograd"
	if back {
		what = "winograd back"
	}
	k.weights = shared(c, weight, g.key(what),
		func() *winogradPack { return newWinogradPack(t, weight.state, back) })
	prepare := func(f *frame) error {
		if bias != nil {
			copy(k.bias, f.f32(bias))
			direct.setBias(k.bias)
		}
		k.weights.fill(f, weight)
		if k.weights.apart {
			direct.fill(f, weight)
		}
		return nil
	}
	rows := t.Side * g.ow // positions of a row of tiles
	span := func(f *frame, w *worker, i, from, to int) {
		if k.weights.apart {
			direct.span(f, w, f.at(y, w, i), f.at(x, w, i), from, to)
			return
		}
		step, last := k.blockRows(lightTiles), (to+rows-1)/rows
		for from := from / rows; from < last; from += step {
			k.newTiles(f, w, weight, f.at(x, w, i), f.at(y, w, i), from, min(from+step, last)).do(0, k.Panels())
		}
	}
	if int(k.weights.bytes()) <= heavyWeights {
		work := k.Frequencies() * k.rows * k.columns * g.c * g.o / 100
		return bySpan(action{prepare: prepare, work: work, span: span, positions: g.oh * g.ow, step: rows,
			block: k.blockRows(lightTiles) * rows, width: g.o})
	}
	return whole(func(f *frame) error {
		if k.weights.apart {
			direct.apply(f, f.f32(x), f.f32(y), x.count, y.count)
		} else {
			k.apply(f, weight, f.f32(x), f.f32(y))
		}
		return nil
	}).after(prepare)
}

// So many tiles are treated together: they should stay in the cache of a core;
// if the weights do not, there should be many for each time these are read.
const (
	lightTiles = 40
	heavyTiles = 48
)

// blockRows returns how many rows of tiles are about so many tiles.
func (k *winograd) blockRows(tiles int) int { return max(1, tiles/k.columns) }

// apply computes all images: blocks of rows of tiles, and where there are not
// enough of them for all workers, some panels of them.
func (k *winograd) apply(f *frame, weight *value, in, out []float32) {
	total, cuts := k.rows*f.total(), 1
	blocks := max(1, (total+k.blockRows(heavyTiles)/2)/k.blockRows(heavyTiles))
	switch {
	case blocks == 1:
		cuts = min(f.threads(), k.Panels())
	case blocks%f.threads() > 0:
		blocks = min(total, blocks+f.threads()-blocks%f.threads())
	}
	f.each(blocks*cuts, func(w *worker, task int) {
		block, cut := task/cuts, task%cuts
		from, to := total*block/blocks, total*(block+1)/blocks
		if from < to {
			k.newTiles(f, w, weight, in, out, from, to).do(k.Panels()*cut/cuts, k.Panels()*(cut+1)/cuts)
		}
	})
}
