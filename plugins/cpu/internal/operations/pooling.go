package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/convolution"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// poolOps are pooling and resizing.
var poolOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.MaxPool:           buildMaxPool,
	graph.MaxPoolGrad:       buildMaxPoolGrad,
	graph.AvgPool:           buildAvgPool,
	graph.AvgPoolGrad:       buildAvgPoolGrad,
	graph.GlobalAvgPool:     buildGlobalAvgPool,
	graph.GlobalAvgPoolGrad: buildGlobalAvgPoolGrad,
	graph.Upsample:          buildUpsample,
	graph.UpsampleGrad:      buildUpsampleGrad,
}

// windows lists, for every pixel of a pool's small image, the pixels of the large image in
// its window, in row-major order, as byte offsets.
type windows [][]int32

// windowsOf returns the windows of the current pool node between images of these shapes [C,
// H, W], or nil after it has refused the node.
func windowsOf(c *plan.Compiler, in, out []int) windows {
	g := convolution.NewGeometry(c.Window(), in, out)
	if why := g.TooLarge(class.Forward); why != "" {
		c.Refuse(why)
		return nil
	}
	all := make(windows, 0, out[1]*out[2])
	for p := range out[1] * out[2] {
		var seen []int32
		for t := range g.Kernel[0] * g.Kernel[1] {
			if at := g.Input(p/out[2], p%out[2], t/g.Kernel[1], t%g.Kernel[1]); at >= 0 {
				seen = append(seen, at)
			}
		}
		all = append(all, seen)
	}
	return all
}

// geometry returns the geometry of a convolution with the windows of the current pool node.
func geometry(c *plan.Compiler, x, y *run.Value) *convolution.Geometry {
	return convolution.NewGeometry(c.Window(), x.Shape, y.Shape)
}

func buildMaxPool(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	seen, n := windowsOf(c, x.Shape, y.Shape), x.Channels
	ring := y.Positions
	c.OnLayout(func() {
		if y.Ring > 0 {
			ring = y.Ring
		}
		for _, pixels := range seen {
			for i := range pixels {
				pixels[i] %= int32(4 * x.StoredCount())
			}
		}
	})
	span := func(f *run.Frame, w *run.Worker, i, from, to int) {
		image, pooled := f.At(x, w, i), f.At(y, w, i)
		for p := from; p < to; p++ {
			f.Kernels.MaxPool(pooled[p%ring*y.Step():][:n], image, seen[p])
		}
	}
	return run.BySpan(&run.ByRows{Work: x.Count / 4, Storage: run.Storage{Inserts: true}, Spans: run.Spans{
		Span: span, Positions: y.Positions, Step: 1, Width: n, Needs: geometry(c, x, y).Needs, Rings: true}})
}

// buildMaxPoolGrad builds the gradient of a max pool. It computes the maximum of every window again.
func buildMaxPoolGrad(c *plan.Compiler) run.Action {
	x, dy, dx := c.In(0), c.In(1), c.Out(0)
	seen, n := windowsOf(c, x.Shape, dy.Shape), x.Channels
	quads, all := seen.quads(x.Positions)
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		image, from, to, spare := f.At(x, w, i), f.At(dy, w, i), f.At(dx, w, i), w.Floats(kernel.Lanes)
		if !all {
			clear(to)
		}
		if quads != nil {
			f.Kernels.MaxPoolQuads(to, image, from, quads, n, spare)
			return
		}
		for p, pixels := range seen {
			f.Kernels.MaxPoolGradient(to, image, from[p*n:][:n], pixels, spare)
		}
	}}
}

// quads returns the pixels of all windows, one window after the other, if each window has four pixels and
// the windows are disjoint; otherwise nil. complete reports that they include all positions.
func (w windows) quads(positions int) (pixels []int32, complete bool) {
	seen := map[int32]bool{}
	for _, window := range w {
		for _, at := range window {
			seen[at] = true
		}
		pixels = append(pixels, window...)
		if len(window) != 4 || len(seen) != len(pixels) {
			return nil, false
		}
	}
	return pixels, len(pixels) == positions
}

// divisors returns, for each window, the number by which its sum is divided.
func divisors(c *plan.Compiler, seen windows) []float32 {
	d := make([]float32, len(seen))
	k := c.Node().Ints("kernel")
	for p, pixels := range seen {
		d[p] = float32(len(pixels))
		if c.Node().Bool("count_pad") {
			d[p] = float32(k[0] * k[1])
		}
	}
	return d
}

func buildAvgPool(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	seen, n := windowsOf(c, x.Shape, y.Shape), x.Channels
	var ends, pixels []int32
	var by []float64
	for p, divisor := range divisors(c, seen) {
		pixels = append(pixels, seen[p]...)
		ends, by = append(ends, int32(len(pixels))), append(by, float64(divisor))
	}
	a := kernel.NewAverages(ends, pixels, by)
	return run.BySpan(&run.ByRows{Work: len(pixels) * n / 8, Spans: run.Spans{Positions: y.Positions, Step: 1,
		Width: n, Needs: geometry(c, x, y).Needs, Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			f.Kernels.Average(f.At(y, w, i)[from*n:], f.At(x, w, i), n, a, from, to)
		}}})
}

func buildAvgPoolGrad(c *plan.Compiler) run.Action {
	dy, dx := c.In(0), c.Out(0)
	seen, n := windowsOf(c, dx.Shape, dy.Shape), dx.Channels
	divide := divisors(c, seen)
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		from, to := f.At(dy, w, i), f.At(dx, w, i)
		clear(to)
		for p, pixels := range seen {
			for _, at := range pixels {
				sum := to[int(at)/4:][:n]
				for ch, g := range from[p*n:][:n] {
					sum[ch] += g / divide[p]
				}
			}
		}
	}}
}

// buildGlobalAvgPool builds a global average pool. Workers that share a row compute different channels.
func buildGlobalAvgPool(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	return &run.ByRows{Work: x.Count / 16, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		first, last := schedule.Span(piece, pieces, x.Channels)
		sum, image := w.Doubles(last-first), f.At(x, w, i)
		eachSpan(w, x.Channels, x.Count, sum, func(sum []float64, from, to int) {
			f.Kernels.SomeSums(sum, image[from:to], x.Channels, first, &w.Sums)
		}, addTo[float64])
		divideInto(f.At(y, w, i)[first:last], sum, float64(x.Positions))
	}}
}

func buildGlobalAvgPoolGrad(c *plan.Compiler) run.Action {
	dy, dx := c.In(0), c.Out(0)
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		to, pixel := f.At(dx, w, i), w.Floats(dx.Channels)
		for ch, g := range f.At(dy, w, i) {
			pixel[ch] = g / float32(dx.Positions)
		}
		for p := range dx.Positions {
			copy(to[p*dx.Channels:], pixel)
		}
	}}
}
