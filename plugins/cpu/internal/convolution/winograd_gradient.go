package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// winogradGradient is the weight gradient of a convolution by tiles
// (kernel.WinogradTaps). It treats a replica's rows of tiles in order, some of
// them at a time: it transforms them, and then every frequency adds its
// products to the sums, which are those of the whole replica at the end.
type winogradGradient struct {
	*Geometry
	kernel.Winograd
	rows, columns int // of tiles in an image
	some          int // rows of tiles that are treated together
	window        *kernel.Window
	x, dy, dw     *run.Value
	v, d, sums    *run.Slot            // transformed tiles of both operands; sums of all frequencies
	orders        map[int]kernel.Order // of the gradients of so many input channels
	winogradGradientGuard
}

// buildWinogradGradient compiles it.
func buildWinogradGradient(c *run.Compiler, g *Geometry, t kernel.Winograd, x, dy, dw *run.Value) run.Action {
	k := &winogradGradient{Geometry: g, Winograd: t, x: x, dy: dy, dw: dw}
	k.rows, k.columns = (g.oh+t.Side-1)/t.Side, (g.ow+t.Side-1)/t.Side
	// Small sums are read and written again for every few tiles, so that these
	// stay in the cache; large ones should see many tiles at a time.
	const few, many, smallSums = 2 << 20, 16 << 20, 4 << 20 // bytes
	budget := few
	if 4*k.Frequencies()*g.c*g.o > smallSums {
		budget = many
	}
	k.some = max(1, budget/(4*k.Frequencies()*(g.c+g.o)*k.columns))
	all := k.some * k.columns
	k.window = t.GradientTiles(all)
	k.v, k.d = c.Temp(4*k.InLen(all), 0, 0), c.Temp(4*k.GradientLen(all), 0, 0)
	k.sums = c.Temp(4*k.Frequencies()*g.c*g.o, 0, 0)
	k.orders = map[int]kernel.Order{}
	for _, n := range []int{1, kernel.Lanes, gradientWidth} {
		k.orders[n] = tapsOrder(n)
	}
	k.winogradGradientGuard = newGuard(c, k)
	return run.Whole(func(f *run.Frame) error {
		for r := range f.Rows {
			k.replica(f, f.Turn(r, len(f.Rows)))
		}
		return nil
	})
}

// tapsOrder returns where [9][n] gradients lie that are [n][9] in memory.
func tapsOrder(n int) kernel.Order {
	at := make([]int, 9*n)
	for i := range at {
		at[i] = i%n*9 + i/n
	}
	return kernel.NewOrder(at)
}

// replica computes the gradient of one replica.
func (k *winogradGradient) replica(f *run.Frame, r int) {
	total := f.Rows[r] * k.rows
	if total == 0 {
		clear(run.Row(f.F32(k.dw), k.dw, r))
		return
	}
	width := k.blockWidth(f)
	blocks := (k.c + width - 1) / width
	for from := 0; from < total; from += k.some {
		to := min(from+k.some, total)
		f.Each(to-from, func(w *run.Worker, i int) { k.transform(f, w, r, from+i, i) })
		f.Each(k.window.Panels()*blocks, func(w *run.Worker, task int) {
			panel, k0 := task/blocks, task%blocks*width
			k.add(f, w, r, panel, k0, min(k0+width, k.c), (to-from)*k.columns, from == 0, to == total)
		})
	}
	k.mend(f, k, r)
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

// transform transforms row q of the tiles of replica r, which becomes row i of
// those that are treated together, and measures it.
func (k *winogradGradient) transform(f *run.Frame, w *run.Worker, r, q, i int) {
	kernels, all := f.Kernels, k.some*k.columns
	image, y := f.Starts[r]+q/k.rows, q%k.rows
	step, gradientStep := (k.columns*k.Side+2)*k.c, k.columns*k.Side*k.o
	room := w.Floats(k.Tile()*step + k.Side*gradientStep)
	strip, edge := room[:k.Tile()*step], room[k.Tile()*step:]
	frameRows(strip, run.Row(f.F32(k.x), k.x, image), y*k.Side-k.Pad[0], k.Tile(), k.h, k.w*k.c, k.Pad[1]*k.c,
		step)
	frameRows(edge, run.Row(f.F32(k.dy), k.dy, image), y*k.Side, k.Side, k.oh, k.ow*k.o, 0, gradientStep)
	kernels.WinogradInput(k.Winograd, run.Temp[float32](f, k.v, k.InLen(all)), i*k.columns, all, strip,
		kernel.Row{Step: step, Count: k.columns})
	kernels.WinogradGradient(k.Winograd, run.Temp[float32](f, k.d, k.GradientLen(all)), i*k.columns, all, edge,
		kernel.Row{Step: gradientStep, Count: k.columns})
	k.measure(f, k, q, image, y)
}

// frameRows copies rows [from, from+count) of an image of height rows to a
// strip, left values from the beginning of each line of it; what lies outside
// the image is 0.
func frameRows(strip, image []float32, from, count, height, width, left, step int) {
	for y := range count {
		line := strip[y*step:][:step]
		if from+y < 0 || from+y >= height {
			clear(line)
			continue
		}
		clear(line[:left])
		copy(line[left:], image[(from+y)*width:][:width])
		clear(line[left+width:])
	}
}

// add adds the products of so many tiles to the sums of input channels
// [k0, k1) and of a panel, and turns these into the gradient at the end.
func (k *winogradGradient) add(f *run.Frame, w *run.Worker, r, panel, k0, k1, tiles int, first, last bool) {
	all, width := k.some*k.columns, k.window.PanelWidth(panel)
	n := (k1 - k0) * width
	size := k.Frequencies() * n
	room := w.Floats(size + 9*n)
	taps, sums := room[:9*n], room[9*n:][:size]
	if !first || !last {
		at := k.Frequencies() * (k.c*panel*kernel.PanelLanes + k0*width)
		sums = run.Temp[float32](f, k.sums, at+size)[at:]
	}
	if first {
		clear(sums)
	}
	v, d := run.Temp[float32](f, k.v, k.InLen(all)), run.Temp[float32](f, k.d, k.GradientLen(all))
	for q := range k.Frequencies() {
		in, gradient := k.Frequency(q, all)
		f.Kernels.Gradient(k.window, 0, panel, sums[q*n:], v[in:], d[gradient:], k0, k1, 0, tiles)
	}
	if last {
		f.Kernels.WinogradTaps(k.Winograd, taps, sums, n)
		k.unpack(f, run.Row(f.F32(k.dw), k.dw, r), taps, panel*kernel.PanelLanes, width, k0, k1)
	}
}

// unpack writes taps, [9][k1-k0][width], to a gradient [O][C][3][3].
func (k *winogradGradient) unpack(f *run.Frame, dw, taps []float32, first, width, k0, k1 int) {
	to := dw[(first*k.c+k0)*9:]
	f.Kernels.Scatter(to, k.orders[k1-k0], k.c*9, taps, width, width)
}
