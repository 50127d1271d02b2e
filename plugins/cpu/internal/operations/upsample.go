package operations

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/convolution"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// eachTap visits the taps of every pixel i of the resized image: pixels j of the original and their
// weights.
func eachTap(c *plan.Compiler, original, result []int, visit func(i, j int, weight float64)) {
	i := 0
	for _, r := range class.Interpolations(c.Node(), original[1], result[1]) {
		for _, col := range class.Interpolations(c.Node(), original[2], result[2]) {
			for _, p := range []struct {
				row, column int
				weight      float64
			}{
				{r.Low, col.Low, (1 - r.Weight) * (1 - col.Weight)},
				{r.Low, col.High, (1 - r.Weight) * col.Weight},
				{r.High, col.Low, r.Weight * (1 - col.Weight)},
				{r.High, col.High, r.Weight * col.Weight},
			} {
				if p.weight != 0 {
					visit(i, p.row*original[2]+p.column, p.weight)
				}
			}
			i++
		}
	}
}

// addressable reports whether a 32-bit offset in bytes reaches every pixel.
func addressable(original, result *run.Value) bool {
	return result.Positions <= convolution.MostOffsets && max(original.Count, result.Count) <= math.MaxInt32/4
}

func buildUpsample(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	if !addressable(x, y) {
		return c.Refuse("too large an image")
	}
	ends := make([]int32, y.Positions)
	var pixels []int32
	var weights []float64
	eachTap(c, x.Shape, y.Shape, func(i, j int, weight float64) {
		pixels, weights = append(pixels, int32(4*x.Channels*j)), append(weights, weight)
		ends[i] = int32(len(pixels))
	})
	return resample(x, y, kernel.NewResampling(ends, pixels, weights))
}

func buildUpsampleGrad(c *plan.Compiler) run.Action {
	dy, dx := c.In(0), c.Out(0)
	if !addressable(dx, dy) {
		return c.Refuse("too large an image")
	}
	ends := make([]int32, dx.Positions)
	eachTap(c, dx.Shape, dy.Shape, func(_, j int, _ float64) { ends[j]++ })
	next, all := make([]int32, dx.Positions), int32(0)
	for j, n := range ends {
		next[j] = all
		all += n
		ends[j] = all
	}
	pixels, weights := make([]int32, all), make([]float64, all)
	eachTap(c, dx.Shape, dy.Shape, func(i, j int, weight float64) {
		pixels[next[j]], weights[next[j]] = int32(4*dy.Channels*i), weight
		next[j]++
	})
	return resample(dy, dx, kernel.NewResampling(ends, pixels, weights))
}

// resample returns the action that computes the pixels of y from pixels of x.
func resample(x, y *run.Value, m *kernel.Resampling) run.Action {
	n := y.Channels
	return run.BySpan(&run.ByRows{Work: m.Terms() * n / 8, Spans: run.Spans{Positions: y.Positions, Step: 1,
		Width: n, Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			f.Kernels.Resample(f.At(y, w, i)[from*n:], f.At(x, w, i), n, m, from, to)
		}}})
}
