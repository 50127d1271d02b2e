package operations

import (
	"math"

	"github.com/bnctl/bnctl/plugins/cpu/internal/convolution"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// mix says which two elements of an axis an element of the resized axis mixes.
type mix struct {
	low, high int
	weight    float64 // of high; low has 1-weight
}

// mixes returns the mix of every element of an axis resized from from to to
// by the current node.
func mixes(c *run.Compiler, from, to int) []mix {
	m := make([]mix, to)
	for i := range m {
		if c.Node.Text("mode") == "nearest" {
			m[i] = mix{low: i * from / to, high: i * from / to}
			continue
		}
		at := source(c, i, from, to)
		low := int(math.Floor(at))
		m[i] = mix{low, min(low+1, from-1), at - float64(low)}
	}
	return m
}

// source returns where element i of the resized axis lies on the original one.
func source(c *run.Compiler, i, from, to int) float64 {
	switch {
	case !c.Node.Bool("align_corners"):
		at := float64((float64(i)+0.5)*float64(from)/float64(to)) - 0.5
		return min(max(at, 0), float64(from-1))
	case to == 1:
		return 0
	}
	return float64(i) * float64(from-1) / float64(to-1)
}

// part is one pixel of the original that a pixel of the resized image mixes.
type part struct {
	at     int
	weight float64
}

// partsOf returns the parts of every pixel of the resized image.
func partsOf(c *run.Compiler, original, result []int) [][]part {
	var all [][]part
	for _, r := range mixes(c, original[1], result[1]) {
		for _, col := range mixes(c, original[2], result[2]) {
			var parts []part
			for _, p := range []part{
				{r.low*original[2] + col.low, (1 - r.weight) * (1 - col.weight)},
				{r.low*original[2] + col.high, (1 - r.weight) * col.weight},
				{r.high*original[2] + col.low, r.weight * (1 - col.weight)},
				{r.high*original[2] + col.high, r.weight * col.weight},
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
	return run.Action{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
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
