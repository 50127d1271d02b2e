package convolution

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// A convolution by Winograd tiles is, for each tile of Side x Side results, a product
// of transformed inputs with transformed weights, element by element: F(4x4, 3x3) needs
// 36 multiplications where the convolution needs 144. Over channels and tiles these are
// Frequencies() matrix products:
//
// 	image              tile 6x6           v[f]                 m[f]             result 4x4
// 	+--+--+--+--+     +-----------+     tiles x C           tiles x O          +-------+
// 	|  |  |  |  |     |  . . . .  |     36 matrices         36 matrices        |       |
// 	+--+--+--+--+ --> |  . . . .  | --> input transform --> * u[f], C x O  --> |       |
// 	|  |  |  |  |     |  . . . .  |     (WinogradInput)     (WinogradProduct)  +-------+
// 	+--+--+--+--+     +-----------+                                            output transform
// 	rows of tiles     padded: overlaps                                         (WinogradOutput)
// 	                  its neighbours
//
// A worker processes some rows of tiles at a time (blocks), so that their v and m stay in
// its cache. It transforms all tiles, and then computes the products and the output
// transform of every panel of output channels. The transforms add numbers of different
// magnitudes. If this would reduce the precision of a tile (winograd_apart.go), or of all
// tiles (winogradPack.apart), they are computed by windows instead. The decision depends
// on values and never on how the work is divided.

// winograd is a convolution by Winograd tiles (kernel.Winograd), separately for each of its phases
// (class.Layer.Phase). If the operands of a tile differ too much in magnitude, windows compute the tile:
// see suspects.
type winograd struct {
	g *Geometry
	kernel.Winograd
	phases
	weights   *winogradPack
	direct    *product
	result    *run.Value
	kernels   *kernel.Set
	bias      []float32 // zeros where the filter adds nothing
	exclusive bool      // no other node runs between the transform of the weights and the end of apply
}

// tiles returns the geometry of the convolution by the tiles of algorithm a.
func (g *Geometry) tiles(a class.Algorithm) kernel.Winograd {
	return kernel.Winograd{Tiles: a.Tiles(), In: g.c, Out: g.o}
}

// buildWinograd builds a convolution by tiles. direct computes the same result by windows. If backward is
// set, the action is the gradient of the convolution that has the filter of direct.
func buildWinograd(c *plan.Compiler, g *Geometry, t kernel.Winograd, direct *product, x, y *run.Value,
	backward bool) run.Action {
	k := &winograd{g: g, Winograd: t, phases: newPhases(g, t.Side), direct: direct, result: y,
		kernels: c.Kernels(), bias: make([]float32, g.o)}
	key := "winograd"
	if backward {
		key = "winograd back"
	}
	k.weights = shared(c, direct.filter, g.key(key),
		func() *winogradPack { return newWinogradPack(c, t, backward) })
	inserts := c.Epilogue().Plus == nil
	c.OnLayout(func() { direct.locate(x, y) })
	rows := t.Side * g.ow // number of positions of the result in a row of tiles
	row := tileOperandsOf(c, x, y)
	span := func(f *run.Frame, w *run.Worker, i, from, to int) {
		o := row(f, w, i)
		if k.weights.unused {
			k.byWindows(f, w, o, from, to)
			return
		}
		k.blocks(f, w, o, from/rows, (to+rows-1)/rows)
	}
	work := k.Frequencies() * k.rowsOfAll() * k.columns * g.c * g.o / 100
	if int(k.weights.Bytes()) > c.Schedule().Weights {
		epilogue := c.Epilogue()
		k.exclusive = true
		c.AllowPassing(k.PackedLen())
		a := run.Whole(func(f *run.Frame) error {
			k.apply(f, tileOperands{storedIn(f, x), storedIn(f, y), epilogue.Rows(f)})
			k.weights.pass()
			return nil
		}).After(k.prepare)
		a.AsHalves, a.Weights, a.Inserts = imageAndResult(c, x, y), int(k.weights.Bytes()), inserts
		return a
	}
	a := &run.ByRows{Prepare: k.prepare, Work: work, Storage: run.Storage{AsHalves: imageAndResult(c, x, y),
		Inserts: inserts}}
	switch {
	case k.rowsOfAll()*k.columns <= c.Schedule().FewTiles:
		a.Row = func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			k.panels(f, w, row(f, w, i), piece, pieces)
		}
		return a
	case k.every > 1: // a row of tiles does not correspond to a span of the result
		a.Row = func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			k.someRows(f, w, row(f, w, i), piece, pieces)
		}
		return a
	}
	a.Spans = run.Spans{Span: span, Positions: g.oh * g.ow, Step: rows, Width: g.o,
		Block: k.lightRows(c.Schedule().LightTiles, c.Schedule().Tiles) * rows}
	return run.BySpan(a)
}

// step returns the distance in values between two positions of the result.
func (k *winograd) step() int { return k.result.Step() }

// imageAndResult returns which values of the current node may be halves: the image, the result, and an
// image that is added to the result.
func imageAndResult(c *plan.Compiler, x, y *run.Value) [][]*run.Value {
	if e := c.Epilogue(); e.Plus == x {
		return [][]*run.Value{{y}}
	}
	return [][]*run.Value{{x}, {y}}
}

// byWindows computes positions [from, to) of one image.
func (k *winograd) byWindows(f *run.Frame, w *run.Worker, o tileOperands, from, to int) {
	floats := o.floats(k, w)
	k.direct.span(f, w, floats, from, to)
	if o.out.half != nil {
		k.narrow(o.out.half[from*k.g.o:to*k.g.o], floats.out[from*k.g.o:], 0, k.Panels())
	}
}

// panels divides the panels of a whole row into pieces parts, and computes the part with index piece.
func (k *winograd) panels(f *run.Frame, w *run.Worker, o tileOperands, piece, pieces int) {
	switch {
	case !k.weights.unused:
		k.newTiles(f, w, o, 0, k.rowsOfAll()).do(schedule.RangeOf(piece, pieces, k.Panels()))
	case piece == 0:
		k.byWindows(f, w, o, 0, k.g.oh*k.g.ow)
	}
}

// someRows divides the rows of tiles of an image into pieces parts, and computes the part with index piece.
func (k *winograd) someRows(f *run.Frame, w *run.Worker, o tileOperands, piece, pieces int) {
	switch {
	case !k.weights.unused:
		from, to := schedule.RangeOf(piece, pieces, k.rowsOfAll())
		k.blocks(f, w, o, from, to)
	case piece == 0:
		k.byWindows(f, w, o, 0, k.g.oh*k.g.ow)
	}
}

// blocks computes rows [from, to) of the tiles of an image in blocks. The transformed tiles
// and products of a block fit in the worker's cache.
func (k *winograd) blocks(f *run.Frame, w *run.Worker, o tileOperands, from, to int) {
	for step := k.lightRows(f.Schedule.LightTiles, f.Schedule.Tiles); from < to; from += step {
		k.newTiles(f, w, o, from, min(from+step, to)).do(0, k.Panels())
	}
}

// Weights change once in a step of training and never in prediction; a run first checks
// their stamp.

// prepare transforms the weights if they have changed. If windows compute everything, it packs the weights
// for windows.
func (k *winograd) prepare(f *run.Frame) error {
	k.direct.prepareBias(f)
	copy(k.bias, k.direct.filter.add)
	k.weights.fill(f, k.direct.filter, k.exclusive)
	if k.weights.unused {
		k.direct.packed.fill(f, k.direct.filter, false)
	}
	return nil
}

// blockRows returns the number of rows of tiles that have about the given number of
// tiles.
func (k *winograd) blockRows(tiles int) int { return max(1, tiles/k.columns) }

// lightRows returns the number of rows of tiles that are processed together if weights are light. These
// rows have about the given number of tiles. With few channels tiles are small, and there may be as many as
// fit into bytes.
func (k *winograd) lightRows(tiles, bytes int) int {
	return k.blockRows(max(tiles, bytes/(4*(k.InLen(1)+k.OutLen(1)))))
}

// apply computes all images. A task is a block of rows of tiles or, if there are too few blocks for all
// workers, some panels of a block.
func (k *winograd) apply(f *run.Frame, o tileOperands) {
	if k.weights.unused {
		f.Each(f.Total(), func(w *run.Worker, i int) {
			k.byWindows(f, w, o.image(k, i), 0, k.g.oh*k.g.ow)
		})
		return
	}
	total, cuts, some := k.rowsOfAll()*f.Total(), 1, k.blockRows(f.Schedule.HeavyTiles)
	blocks := max(1, (total+some/2)/some)
	switch {
	case blocks == 1:
		cuts = min(f.Threads(), k.Panels())
	case blocks%f.Threads() > 0:
		blocks = min(total, blocks+f.Threads()-blocks%f.Threads())
	}
	f.Each(blocks*cuts, func(w *run.Worker, task int) {
		block, cut := task/cuts, task%cuts
		from, to := schedule.RangeOf(block, blocks, total)
		if from < to {
			k.newTiles(f, w, o, from, to).do(schedule.RangeOf(cut, cuts, k.Panels()))
		}
	})
}
