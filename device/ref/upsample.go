package ref

import "math"

// mix says which two elements of an axis an element of the resized axis mixes.
type mix struct {
	low, high int
	weight    float64 // of high; low has 1-weight
}

// mixes returns the mix of every element of an axis resized from from to to.
func (c *call) mixes(from, to int) []mix {
	m := make([]mix, to)
	for i := range m {
		if c.Text("mode") == "nearest" {
			m[i] = mix{low: i * from / to, high: i * from / to}
			continue
		}
		at := c.source(i, from, to)
		low := int(math.Floor(at))
		m[i] = mix{low, min(low+1, from-1), at - float64(low)}
	}
	return m
}

// source returns where element i of the resized axis lies on the original one.
func (c *call) source(i, from, to int) float64 {
	switch {
	case !c.Bool("align_corners"):
		at := float64((float64(i)+0.5)*float64(from)/float64(to)) - 0.5
		return min(max(at, 0), float64(from-1))
	case to == 1:
		return 0
	}
	return float64(i) * float64(from-1) / float64(to-1)
}

// resized visits, for every element i of the resized image, the four elements
// of the original that it mixes, with their weights.
func (c *call) resized(original, result *array, visit func(i, j int, weight float64)) {
	h, w := original.typ.Shape[1], original.typ.Shape[2]
	rows, columns := c.mixes(h, result.typ.Shape[1]), c.mixes(w, result.typ.Shape[2])
	i := 0
	for plane := range result.lead * result.typ.Shape[0] {
		for _, r := range rows {
			for _, col := range columns {
				low, high := (plane*h+r.low)*w, (plane*h+r.high)*w
				visit(i, low+col.low, (1-r.weight)*(1-col.weight))
				visit(i, low+col.high, (1-r.weight)*col.weight)
				visit(i, high+col.low, r.weight*(1-col.weight))
				visit(i, high+col.high, r.weight*col.weight)
				i++
			}
		}
	}
}

func upsample(c *call) {
	x, y := c.in(0), c.out(0)
	c.resized(x, y, func(i, j int, weight float64) {
		if weight != 0 {
			y.f[i] += float64(weight * x.f[j])
		}
	})
}

func upsampleGrad(c *call) {
	dy, dx := c.in(0), c.out(0)
	c.resized(dx, dy, func(i, j int, weight float64) {
		if weight != 0 {
			dx.f[j] += float64(weight * dy.f[i])
		}
	})
}
