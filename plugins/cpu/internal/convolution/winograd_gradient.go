package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// The gradient of a kernel by tiles transforms the same tiles of the input as the
// convolution, and the tiles of the result's gradient to the same points. Then
//
//	sums[f]  C x O  +=  v[f]^T  C x tiles  *  d[f]  tiles x O         for every frequency
//	gradient [taps][C][O]  =  transform of sums[all frequencies]      once for a chunk
//
// so that the sums over all positions are sums over tiles, with 36 instead of 144
// multiplications for 4 x 4 results and 9 taps.
//
//	replica    chunk 0         chunk 1         chunk 2      some rows each (chunks.go)
//	           |||||||         |||||||         |||||||      rows of tiles, some at a time
//	             sums            sums            sums
//	             grad            grad            grad       leaves of the canonical tree
//	               \______________/               /
//	                      +_______________________/          join

// winogradGradient is the weight gradient of a convolution by tiles (kernel.WinogradTaps),
// chunk by chunk. It processes a chunk's rows of tiles in order, at most maxRows at a time: it
// transforms them, and then adds the products of every frequency to the sums of the chunk.
type winogradGradient struct {
	g *Geometry
	kernel.Winograd
	rows, columns int // rows and columns of tiles in an image
	maxRows       int // maximum number of rows of tiles that are processed together
	chain         int // rows of tiles that one chain of products includes: a divisor of maxRows; 0: all
	chunks        chunks
	window        *kernel.Window
	plain         *kernel.Window // window of the convolution
	x, dy, dw     *run.Value
	workspaces    []*gradientWorkspace // one for each chunk that is computed at the same time
	leaves        *arena.Slot          // gradients of the chunks of replicas that have several chunks
	orders        map[int]kernel.Order // orders of the gradients, by the number of input channels
	all           []chunk              // all chunks of the run
	adds          bool                 // in this run, the gradient is added to existing sums
}

// gradientWorkspace is the memory in which one chunk at a time is computed.
type gradientWorkspace struct {
	v, d, sums *arena.Slot // transformed tiles of x and of dy; sums of all frequencies
	gradientGuard
}

// buildWinogradGradient compiles a winogradGradient.
func buildWinogradGradient(c *plan.Compiler, g *Geometry, t kernel.Winograd, x, dy,
	dw *run.Value) run.Action {
	k := &winogradGradient{g: g, Winograd: t, plain: g.forward(), x: x, dy: dy, dw: dw}
	k.rows, k.columns = (g.oh+t.Side-1)/t.Side, (g.ow+t.Side-1)/t.Side
	// Small sums are read and written once for a few tiles, so that the tiles stay in the cache.
	// Large sums are read and written once for many tiles. They fill the cache that workers share,
	// so there is only one workspace of them.
	budget, workspaces := c.Schedule().SomeTiles, c.Threads()
	if 4*k.Frequencies()*g.c*g.o > c.Schedule().SmallSums {
		budget, workspaces = c.Schedule().ManyTiles, 1
	}
	k.maxRows = max(1, budget/(4*k.Frequencies()*(g.c+g.o)*k.columns))
	if k.chain = t.ChainRows(k.columns); k.chain > 0 {
		k.maxRows = max(1, k.maxRows/k.chain) * k.chain
	}
	k.window = t.GradientTiles(k.maxRows * k.columns)
	k.chunks = chunksOf(dy.Positions)
	for range workspaces {
		k.workspaces = append(k.workspaces, k.newWorkspace(c))
	}
	// A replica of several chunks has more than chunks.rows rows, so there are at most 2/(chunks.rows+1)
	// chunks for each row.
	k.leaves = c.Temp(0, 0, (8*dw.Count+k.chunks.rows)/(k.chunks.rows+1))
	k.orders = map[int]kernel.Order{}
	for _, n := range []int{kernel.Lanes, gradientWidth} {
		k.orders[n] = tapsOrder(k.Taps(), n)
	}
	dw.AllowAdding()
	return run.Whole(func(f *run.Frame) error {
		k.run(f)
		return nil
	})
}

// newWorkspace returns the workspace for a chunk.
func (k *winogradGradient) newWorkspace(c *plan.Compiler) *gradientWorkspace {
	all := k.maxRows * k.columns
	tasks := k.window.Panels() * k.blocks(kernel.Lanes)
	return &gradientWorkspace{c.Temp(4*k.InLen(all), 0, 0), c.Temp(4*k.GradientLen(all), 0, 0),
		c.Temp(4*k.Frequencies()*(k.g.c*k.g.o+kernel.Lanes*tasks), 0, 0), // sums, SumsStep values apart
		newGuard(c, k)}
}

// tapsOrder returns the offsets at which gradients in the order [taps][n] are stored as [n][taps].
func tapsOrder(taps, n int) kernel.Order {
	offsets := make([]int, taps*n)
	for i := range offsets {
		offsets[i] = i%n*taps + i/n
	}
	return kernel.NewOrder(offsets)
}

// chunk is images [from, to) of replica r. It is chunk number i of the count chunks of the replica. If
// count is not 1, the gradient of the chunk is stored as leaf number leaf.
type chunk struct{ r, i, count, from, to, leaf int }

// run computes the gradients of all replicas. Each worker computes one chunk at a time, so that its tiles
// stay in the worker's caches. If some workers would be idle, all workers compute the same chunk, and then
// the next one.
func (k *winogradGradient) run(f *run.Frame) {
	k.list(f)
	k.adds = f.Adds(k.dw)
	if threads := f.Threads(); len(k.workspaces) == 1 || threads == 1 || !evenly(len(k.all), threads) {
		width := k.blockWidth(threads)
		for _, c := range k.all {
			k.chunk(f, c, k.workspaces[0], width, f.Each)
		}
		k.join(f, width)
		return
	}
	f.Each(len(k.all), func(w *run.Worker, i int) {
		workspace := k.workspaces[w.Index]
		k.chunk(f, k.all[i], workspace, gradientWidth, func(tasks int, do func(w *run.Worker, task int)) {
			for task := range tasks {
				do(w, task)
			}
		})
	})
	k.join(f, gradientWidth)
}

// list lists the chunks of the run. A replica without rows has no chunks, and its gradients
// are 0.
func (k *winogradGradient) list(f *run.Frame) {
	k.all = k.all[:0]
	leaf := 0
	for turn := range f.Rows {
		r := f.Turn(turn, len(f.Rows))
		if f.Rows[r] == 0 {
			clear(run.Row(f.F32(k.dw), k.dw, r))
		}
		count := k.chunks.count(f.Rows[r])
		for i := range count {
			from := f.Starts[r] + i*k.chunks.rows
			k.all = append(k.all, chunk{r, i, count, from, min(from+k.chunks.rows, f.Starts[r+1]), leaf + i})
		}
		if count > 1 {
			leaf += count
		}
	}
}

// evenly reports whether n equal tasks keep the given number of workers busy for four fifths of the time.
func evenly(n, threads int) bool { return 5*n >= 4*threads*((n+threads-1)/threads) }

// gradientWidth is the maximum number of input channels that a task sums.
const gradientWidth = 2 * kernel.Lanes

// blockWidth returns the number of input channels in a task if workers share a chunk: their
// sums should stay in the cache, and all workers should have tasks.
func (k *winogradGradient) blockWidth(threads int) int {
	if threads > 1 && k.window.Panels()*k.g.c/gradientWidth < 2*threads {
		return kernel.Lanes
	}
	return gradientWidth
}

// blocks returns the number of blocks of the given number of input channels.
func (k *winogradGradient) blocks(width int) int { return (k.g.c + width - 1) / width }

// task returns one task of a chunk, by its index. A chunk has Panels() * blocks(width) tasks.
func (k *winogradGradient) task(f *run.Frame, w *run.Worker, c chunk, workspace *gradientWorkspace,
	width, n int) *tapsTask {
	panel, k0 := n/k.blocks(width), n%k.blocks(width)*width
	return &tapsTask{k, f, w, c, workspace, n, panel, k0, min(k0+width, k.g.c), k.window.PanelWidth(panel)}
}

// chunk computes the gradient of a chunk. each runs tasks, on all workers or on one.
func (k *winogradGradient) chunk(f *run.Frame, c chunk, workspace *gradientWorkspace, width int,
	each func(tasks int, do func(w *run.Worker, task int))) {
	total, unit := (c.to-c.from)*k.rows, max(1, k.chain)
	tasks := func(do func(t *tapsTask)) {
		each(k.window.Panels()*k.blocks(width), func(w *run.Worker, task int) {
			do(k.task(f, w, c, workspace, width, task))
		})
	}
	if total*k.columns < k.MinTiles() {
		tasks((*tapsTask).withoutTiles)
		return
	}
	units, some := (total+unit-1)/unit, k.maxRows/unit
	ranges := (units + some - 1) / some
	for index := range ranges {
		from, to := schedule.RangeOf(index, ranges, units)
		from, to = from*unit, min(to*unit, total)
		each(to-from, func(w *run.Worker, i int) { k.transform(f, w, c, workspace, from+i, i) })
		if to == total {
			workspace.judge(f, k, total)
		}
		tasks(func(t *tapsTask) { t.add(to-from, from == 0, to == total) })
	}
}

// join adds the gradients of the chunks of each replica that has several chunks.
func (k *winogradGradient) join(f *run.Frame, width int) {
	tasks := k.window.Panels() * k.blocks(width)
	f.Each(len(k.all)*tasks, func(w *run.Worker, task int) {
		if c := k.all[task/tasks]; c.i == 0 && c.count > 1 {
			k.task(f, w, c, nil, width, task%tasks).join()
		}
	})
}

// transform transforms row q of the tiles of a chunk and measures it for the guard. The result is row i of
// the rows that are processed together.
func (k *winogradGradient) transform(f *run.Frame, w *run.Worker, c chunk, workspace *gradientWorkspace,
	q, i int) {
	kernels, all := f.Kernels, k.maxRows*k.columns
	image, y := c.from+q/k.rows, q%k.rows
	step, gradientStep := (k.columns*k.Side+2*k.Border())*k.g.c, k.columns*k.Side*k.g.o
	buffer := w.Floats(k.Tile()*step + k.Side*gradientStep)
	padded, edge := buffer[:k.Tile()*step], buffer[k.Tile()*step:]
	frameRows(padded, run.Row(f.F32(k.x), k.x, image), y*k.Side-k.g.Pad[0], k.Tile(), k.g.h, k.g.w*k.g.c,
		k.g.Pad[1]*k.g.c, step)
	frameRows(edge, run.Row(f.F32(k.dy), k.dy, image), y*k.Side, k.Side, k.g.oh, k.g.ow*k.g.o, 0, gradientStep)
	v := run.Temp[float32](f, workspace.v, k.InLen(all))
	d := run.Temp[float32](f, workspace.d, k.GradientLen(all))
	kernels.WinogradInput(k.Winograd, v, i*k.columns, all, padded, kernel.Row{Step: step, Count: k.columns})
	kernels.WinogradGradient(k.Winograd, d, i*k.columns, all, edge,
		kernel.Row{Step: gradientStep, Count: k.columns})
	workspace.measure(f, k, q, image, y)
}

// frameRows copies rows [from, from+count) of an image with the given height to padded. In each line of
// padded, the row starts at index left. Pixels outside the image are 0.
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
