package class

import (
	"math"

	"github.com/bnctl/bnctl/graph"
)

// Interpolation describes how an element of a resized axis is interpolated in float64. It is the
// sum of element Low of the original axis with weight 1 - Weight and element High with weight
// Weight. An element with weight 0 is left out.
type Interpolation struct {
	Low, High int
	Weight    float64
}

// Interpolations returns the interpolation of every element of an axis that is resized. n is an upsample or
// its gradient, length is the original length of the axis, and resized the new length.
func Interpolations(n *graph.Node, length, resized int) []Interpolation {
	m := make([]Interpolation, resized)
	for i := range m {
		if n.Text("mode") == "nearest" {
			m[i] = Interpolation{Low: i * length / resized, High: i * length / resized}
			continue
		}
		at := resizedFrom(n, i, length, resized)
		low := int(math.Floor(at))
		m[i] = Interpolation{low, min(low+1, length-1), at - float64(low)}
	}
	return m
}

// resizedFrom returns the position of element i of the resized axis on the original axis.
func resizedFrom(n *graph.Node, i, length, resized int) float64 {
	switch {
	case !n.Bool("align_corners"):
		at := float64((float64(i)+0.5)*float64(length)/float64(resized)) - 0.5
		return min(max(at, 0), float64(length-1))
	case resized == 1:
		return 0
	}
	return float64(i) * float64(length-1) / float64(resized-1)
}
