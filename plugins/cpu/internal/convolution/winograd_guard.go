package convolution

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// A forward tile is checked by its pixels, and a gradient by channels, since it sums over
// pixels: see class.EvenChannel.

// gradientGuard finds operands with too wide a range for tiles. The error of a tile is relative to its
// largest values, and the error of a window to the products that it adds. A weight's gradient sums over
// the positions of one channel of each operand. So no value of a channel, in a chunk, may nearly outweigh
// the sum of all the others, and all values must be in a range that leaves a margin for the transforms.
// If an input channel fails, for example because it is hardly ever above 0, its gradients are computed by
// windows. All gradients are computed by windows if a channel of the result's gradient fails, or more
// than a quarter of the input's channels.
type gradientGuard struct {
	sizes *arena.Slot // sums and maxima of every row of tiles of a chunk: see measure

	size, most []float32 // sum of magnitudes and maximum of each channel, over a chunk
	uneven     []bool    // input channels with gradients that windows must compute
	failed     bool      // so many channels fail that windows compute all gradients
}

func newGuard(c *plan.Compiler, k *winogradGradient) gradientGuard {
	n := k.measured()
	return gradientGuard{sizes: c.Temp(4*n*k.rows*k.chunks.rows, 0, 0),
		size: make([]float32, n), most: make([]float32, n), uneven: make([]bool, k.g.c)}
}

// measured returns the number of sums and maxima that measure stores for a row of tiles.
func (k *winogradGradient) measured() int { return 2 * (k.g.c + k.g.o) }

// measure sums the magnitudes of the values in row y of the tiles of an image, which is row
// q of the chunk, and finds the largest. It stores the sums and the largest magnitudes for
// the channels of x, and then both for the channels of dy.
func (g *gradientGuard) measure(f *run.Frame, k *winogradGradient, q, image, y int) {
	n := k.measured()
	s := run.Temp[float32](f, g.sizes, (q+1)*n)[q*n:]
	clear(s)
	lineOf := func(v *run.Value, line, height int) []float32 {
		return run.Row(f.F32(v), v, image)[y*k.Side*line : min((y+1)*k.Side, height)*line]
	}
	kernels := f.Kernels
	kernels.Sizes(s[:k.g.c], s[k.g.c:2*k.g.c], lineOf(k.x, k.g.w*k.g.c, k.g.h))
	kernels.Sizes(s[2*k.g.c:2*k.g.c+k.g.o], s[2*k.g.c+k.g.o:], lineOf(k.dy, k.g.ow*k.g.o, k.g.oh))
}

// judge decides for which channels of a chunk windows (implicit GEMM) must compute the gradient. The chunk
// has the given number of rows of tiles.
func (g *gradientGuard) judge(f *run.Frame, k *winogradGradient, rows int) {
	clear(g.size)
	clear(g.most)
	f.Kernels.Sizes(g.size, g.most, run.Temp[float32](f, g.sizes, rows*k.measured()))
	failed := 0
	for c := range k.g.c {
		g.uneven[c] = !class.EvenChannel(g.size[c], g.most[k.g.c+c])
		if g.uneven[c] {
			failed++
		}
	}
	g.failed = failed > k.g.c/4
	for o := 2 * k.g.c; o < 2*k.g.c+k.g.o; o++ {
		g.failed = g.failed || !class.EvenChannel(g.size[o], g.most[o+k.g.o])
	}
}
