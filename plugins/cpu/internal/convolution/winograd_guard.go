package convolution

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// winogradGradientGuard finds the operands that lie too far apart for tiles: the
// error of a tile is relative to its largest values, that of a window to the
// products that it adds. A weight's gradient sums over the positions of one
// channel of each operand. So no value of a channel, in a replica, may come near
// outweighing all the others, and all must be within what leaves room for the
// transforms. Gradients of an input channel that fails, as one does that is
// hardly ever above 0, are computed anew by windows.
type winogradGradientGuard struct {
	sizes  *run.Slot                        // of every row of tiles: see measure
	plain  *kernel.Window                   // of the convolution
	direct func(f *run.Frame, from, to int) // computes replicas by windows

	size, most []float32 // of a replica
	channels   []int     // of the input, that fail
}

func newGuard(c *run.Compiler, k *winogradGradient) winogradGradientGuard {
	n, direct := k.measured(), k.gradientByWindows(k.x, k.dy, k.dw)
	return winogradGradientGuard{sizes: c.Temp(0, 0, 4*n*k.rows), plain: k.forward(), direct: direct,
		size: make([]float32, n), most: make([]float32, n)}
}

// measured returns how many numbers are kept of a row of tiles.
func (k *winogradGradient) measured() int { return 2 * (k.c + k.o) }

// measure sums the sizes of the values in row y of the tiles of an image, which
// is row q of the replica, and finds the largest: for the channels of x its
// sums, its largest, and those of dy.
func (g *winogradGradientGuard) measure(f *run.Frame, k *winogradGradient, q, image, y int) {
	n := k.measured()
	s := run.Temp[float32](f, g.sizes, (q+1)*n)[q*n:]
	clear(s)
	part := func(v *run.Value, line, height int) []float32 {
		return run.Row(f.F32(v), v, image)[y*k.Side*line : min((y+1)*k.Side, height)*line]
	}
	kernels := f.Kernels
	kernels.Sizes(s[:k.c], s[k.c:2*k.c], part(k.x, k.w*k.c, k.h))
	kernels.Sizes(s[2*k.c:2*k.c+k.o], s[2*k.c+k.o:], part(k.dy, k.ow*k.o, k.oh))
}

// mend computes anew what of the gradient of replica r tiles do not compute well.
func (g *winogradGradientGuard) mend(f *run.Frame, k *winogradGradient, r int) {
	clear(g.size)
	clear(g.most)
	f.Kernels.Sizes(g.size, g.most, run.Temp[float32](f, g.sizes, f.Rows[r]*k.rows*k.measured()))
	g.channels = g.channels[:0]
	for c := range k.c {
		if !even(g.size[c], g.most[k.c+c]) {
			g.channels = append(g.channels, c)
		}
	}
	apart := len(g.channels) > k.c/4
	for o := 2 * k.c; o < 2*k.c+k.o; o++ {
		apart = apart || !even(g.size[o], g.most[o+k.o])
	}
	if apart {
		g.direct(f, r, r+1)
		return
	}
	panels := g.plain.Panels()
	f.Each(len(g.channels)*panels, func(w *run.Worker, task int) {
		g.channel(f, w, k, r, task%panels, g.channels[task/panels])
	})
}

// even reports whether nothing outweighs the rest of values of which these are
// the sum and the largest of the sizes.
func even(size, most float32) bool {
	const share = 8
	return most == 0 || most >= class.TileLeast && most <= class.TileMost && share*most <= size
}

// channel computes the gradient for an input channel and a panel by windows.
func (g *winogradGradientGuard) channel(f *run.Frame, w *run.Worker, k *winogradGradient, r, panel, c int) {
	width := g.plain.PanelWidth(panel)
	sums := w.Floats(9 * width)
	clear(sums)
	x, dy := f.F32(k.x), f.Slack(k.dy)
	for i := f.Starts[r]; i < f.Starts[r+1]; i++ {
		gradient := dy[i*k.dy.Count : (i+1)*k.dy.Count+kernel.GradientSlack]
		for t := range 9 {
			f.Kernels.Gradient(g.plain, t, panel, sums[t*width:], run.Row(x, k.x, i), gradient, c, c+1, 0,
				g.plain.Positions())
		}
	}
	k.unpack(f, run.Row(f.F32(k.dw), k.dw, r), sums, panel*kernel.PanelLanes, width, c, c+1)
}
