package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/convolution"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// part is one pixel of the original that a pixel of the resized image mixes.
type part struct {
	at     int
	weight float64
}

// partsOf returns the parts of every pixel of the resized image.
func partsOf(c *run.Compiler, original, result []int) [][]part {
	var all [][]part
	for _, r := range class.Mixes(c.Node, original[1], result[1]) {
		for _, col := range class.Mixes(c.Node, original[2], result[2]) {
			var parts []part
			for _, p := range []part{
				{r.Low*original[2] + col.Low, (1 - r.Weight) * (1 - col.Weight)},
				{r.Low*original[2] + col.High, (1 - r.Weight) * col.Weight},
				{r.High*original[2] + col.Low, r.Weight * (1 - col.Weight)},
				{r.High*original[2] + col.High, r.Weight * col.Weight},
			} {
				if p.weight != 0 {
					parts = append(parts, p)
				}
			}
			all = append(all, parts)
		}
	}
	return all
}

func buildUpsample(c *run.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	if y.Positions > convolution.MostOffsets {
		return c.Refuse("too large an image")
	}
	parts := partsOf(c, x.Shape, y.Shape)
	return resize(c, x, y, parts, func(sum []float64, i, j int, weight float64, from []float32) {
		for ch, v := range from[j*x.Channels:][:x.Channels] {
			sum[i*x.Channels+ch] += float64(weight * float64(v))
		}
	})
}

func buildUpsampleGrad(c *run.Compiler) run.Action {
	dy, dx := c.In(0), c.Out(0)
	if dy.Positions > convolution.MostOffsets {
		return c.Refuse("too large an image")
	}
	parts := partsOf(c, dx.Shape, dy.Shape)
	return resize(c, dy, dx, parts, func(sum []float64, i, j int, weight float64, from []float32) {
		for ch, v := range from[i*dx.Channels:][:dx.Channels] {
			sum[j*dx.Channels+ch] += float64(weight * float64(v))
		}
	})
}

// mixing adds to sum what pixel i of the resized image and pixel j of the
// original have to do with each other.
type mixing func(sum []float64, i, j int, weight float64, from []float32)

// resize adds up, per row in float64, what add makes of every part.
func resize(c *run.Compiler, x, y *run.Value, parts [][]part, add mixing) run.Action {
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		from, sum := f.At(x, w, i), w.Doubles(y.Count)
		clear(sum)
		for i, list := range parts {
			for _, p := range list {
				add(sum, i, p.at, p.weight, from)
			}
		}
		divideInto(f.At(y, w, i), sum, 1)
	}}
}
