package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// winogradGradient is the weight gradient of a convolution by tiles
// (kernel.WinogradTaps). It treats a chunk's rows of tiles in order, some of
// them at a time: it transforms them, and then every frequency adds its
// products to the sums, which are those of the whole chunk at the end.
type winogradGradient struct {
	*Geometry
	kernel.Winograd
	rows, columns int // of tiles in an image
	some          int // rows of tiles that are treated together, at most
	chain         int // rows of tiles whose products are one chain, of which some is a multiple; 0: all
	chunks        chunks
	window        *kernel.Window
	x, dy, dw     *run.Value
	v, d, sums    *run.Slot            // transformed tiles of both operands; sums of all frequencies
	nodes         *run.Slot            // gradients of nodes of the tree over the chunks
	orders        map[int]kernel.Order // of the gradients, by the number of input channels
	winogradGradientGuard
}

// buildWinogradGradient compiles it.
func buildWinogradGradient(c *run.Compiler, g *Geometry, t kernel.Winograd, x, dy, dw *run.Value) run.Action {
	k := &winogradGradient{Geometry: g, Winograd: t, x: x, dy: dy, dw: dw}
	k.rows, k.columns = (g.oh+t.Side-1)/t.Side, (g.ow+t.Side-1)/t.Side
	// Small sums are read and written again for every few tiles, so that these
	// stay in the cache; large ones should see many tiles at a time.
	budget := c.Schedule.SomeTiles
	if 4*k.Frequencies()*g.c*g.o > c.Schedule.SmallSums {
		budget = c.Schedule.ManyTiles
	}
	k.some = max(1, budget/(4*k.Frequencies()*(g.c+g.o)*k.columns))
	if k.chain = t.ChainRows(k.columns); k.chain > 0 {
		k.some = max(1, k.some/k.chain) * k.chain
	}
	all := k.some * k.columns
	k.window = t.GradientTiles(all)
	k.v, k.d = c.Temp(4*k.InLen(all), 0, 0), c.Temp(4*k.GradientLen(all), 0, 0)
	tasks := k.window.Panels() * ((g.c + kernel.Lanes - 1) / kernel.Lanes)
	k.sums = c.Temp(4*k.Frequencies()*(g.c*g.o+kernel.Lanes*tasks), 0, 0) // apart by SumsStep
	k.chunks = chunksOf(dy.Positions)
	k.nodes = c.Temp(0, 0, (4*dw.Count+k.chunks.rows-1)/k.chunks.rows)
	k.orders = map[int]kernel.Order{}
	for _, n := range []int{kernel.Lanes, gradientWidth} {
		k.orders[n] = tapsOrder(k.Taps(), n)
	}
	k.winogradGradientGuard = newGuard(c, k)
	return run.Whole(func(f *run.Frame) error {
		for r := range f.Rows {
			k.replica(f, f.Turn(r, len(f.Rows)))
		}
		return nil
	})
}

// tapsOrder returns where [taps][n] gradients lie that are [n][taps] in memory.
func tapsOrder(taps, n int) kernel.Order {
	at := make([]int, taps*n)
	for i := range at {
		at[i] = i%n*taps + i/n
	}
	return kernel.NewOrder(at)
}

// replica computes the gradient of one replica.
func (k *winogradGradient) replica(f *run.Frame, r int) {
	if f.Rows[r] == 0 {
		clear(run.Row(f.F32(k.dw), k.dw, r))
		return
	}
	for i := range k.chunks.count(f.Rows[r]) {
		first := f.Starts[r] + i*k.chunks.rows
		k.chunk(f, chunk{r, i, first, min(first+k.chunks.rows, f.Starts[r+1])})
	}
}

// chunk is chunk i of replica r: images [from, to).
type chunk struct{ r, i, from, to int }

// chunk computes the gradient of a chunk and adds it to those before it.
func (k *winogradGradient) chunk(f *run.Frame, c chunk) {
	width, total := k.blockWidth(f), (c.to-c.from)*k.rows
	blocks, unit := (k.c+width-1)/width, max(1, k.chain)
	each := func(do func(t *tapsTask)) {
		f.Each(k.window.Panels()*blocks, func(w *run.Worker, task int) {
			panel, k0 := task/blocks, task%blocks*width
			do(&tapsTask{k, f, w, c, task, panel, k0, min(k0+width, k.c), k.window.PanelWidth(panel)})
		})
	}
	if total*k.columns < k.Least() {
		each((*tapsTask).withoutTiles)
		return
	}
	units, some := (total+unit-1)/unit, k.some/unit
	parts := (units + some - 1) / some
	for part := range parts {
		from, to := units*part/parts*unit, min(units*(part+1)/parts*unit, total)
		f.Each(to-from, func(w *run.Worker, i int) { k.transform(f, w, c, from+i, i) })
		if to == total {
			k.judge(f, k, total)
		}
		each(func(t *tapsTask) { t.add(to-from, from == 0, to == total) })
	}
}

// gradientWidth is how many input channels a task sums for at most.
const gradientWidth = 2 * kernel.Lanes

// blockWidth returns how many input channels a task sums for: their sums
// should stay in the cache, and all workers have something to do.
func (k *winogradGradient) blockWidth(f *run.Frame) int {
	if f.Threads() > 1 && k.window.Panels()*k.c/gradientWidth < 2*f.Threads() {
		return kernel.Lanes
	}
	return gradientWidth
}

// transform transforms row q of the tiles of a chunk, which becomes row i of
// those that are treated together, and measures it.
func (k *winogradGradient) transform(f *run.Frame, w *run.Worker, c chunk, q, i int) {
	kernels, all := f.Kernels, k.some*k.columns
	image, y := c.from+q/k.rows, q%k.rows
	step, gradientStep := (k.columns*k.Side+2*k.Border())*k.c, k.columns*k.Side*k.o
	room := w.Floats(k.Tile()*step + k.Side*gradientStep)
	padded, edge := room[:k.Tile()*step], room[k.Tile()*step:]
	frameRows(padded, run.Row(f.F32(k.x), k.x, image), y*k.Side-k.Pad[0], k.Tile(), k.h, k.w*k.c, k.Pad[1]*k.c,
		step)
	frameRows(edge, run.Row(f.F32(k.dy), k.dy, image), y*k.Side, k.Side, k.oh, k.ow*k.o, 0, gradientStep)
	kernels.WinogradInput(k.Winograd, run.Temp[float32](f, k.v, k.InLen(all)), i*k.columns, all, padded,
		kernel.Row{Step: step, Count: k.columns})
	kernels.WinogradGradient(k.Winograd, run.Temp[float32](f, k.d, k.GradientLen(all)), i*k.columns, all, edge,
		kernel.Row{Step: gradientStep, Count: k.columns})
	k.measure(f, k, q, image, y)
}

// frameRows copies rows [from, from+count) of an image of height rows to
// padded, left values from the beginning of each line of it; what lies outside
// the image is 0.
func frameRows(padded, image []float32, from, count, height, width, left, step int) {
	for y := range count {
		line := padded[y*step:][:step]
		if from+y < 0 || from+y >= height {
			clear(line)
			continue
		}
		clear(line[:left])
		copy(line[left:], image[(from+y)*width:][:width])
		clear(line[left+width:])
	}
}
