package devicetest

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// overlapping fills [rows, R, A] with corners of whole numbers, from 0 to 12, and tenths as scores, so that
// there are ties, and boxes without an area.
func overlapping(d *tensor.Draws, t tensor.Tensor) {
	slots := t.Shape[2]
	set(t, func(i int) float64 {
		switch row := i / slots % t.Shape[1]; {
		case row < 2:
			return float64(d.Intn(8))
		case row < 4:
			return float64(4 + d.Intn(9))
		}
		return float64(d.Intn(11)) / 10
	})
}

// anchored fills [A, 4] with squares of 8 and 16 pixels and with flat boxes of 16 x 8 pixels.
func anchored(_ *tensor.Draws, t tensor.Tensor) {
	set(t, func(i int) float64 {
		n := i / 4
		at := [4]int{n % 5 * 8, n / 5 * 8, n%5*8 + 8 + n%2*8, n/5*8 + 8 + n%3/2*8}
		return float64(at[i%4])
	})
}

// cells fills [A, 4] with cells of 8 pixels.
func cells(_ *tensor.Draws, t tensor.Tensor) {
	set(t, func(i int) float64 {
		n := i / 4
		return float64([4]int{n % 5 * 8, n / 5 * 8, n%5*8 + 8, n/5*8 + 8}[i%4])
	})
}

func boxLimits(score, overlap float64) operand { return rows(2).filledBy(listed(score, overlap)) }

var detectProbes = []probe{
	{"corners, ties", graph.Detect, []any{"form", "corners", "most", 9},
		[]operand{rows(7, 37).filledBy(overlapping), boxLimits(0.15, 0.3)}, bits},
	{"corners, the best 3 of a class", graph.Detect, []any{"form", "corners", "most", 20, "before", 3},
		[]operand{rows(6, 150).filledBy(overlapping), boxLimits(-1, 0.5)}, bits},
	{"corners, the best 4 of some slots", graph.Detect,
		[]any{"form", "corners", "most", 20, "before", 4, "starts", []int{0, 1, 40}},
		[]operand{rows(6, 131).filledBy(overlapping), boxLimits(0.3, 0.2)}, bits},
	{"corners, one of a class", graph.Detect, []any{"form", "corners", "most", 20},
		[]operand{rows(8, 17).filledBy(overlapping), boxLimits(0.1, -1)}, bits},
	{"corners, a limit for each row", graph.Detect, []any{"form", "corners", "most", 5},
		[]operand{rows(5, 30).filledBy(overlapping), rows(2).filledBy(listed(0.9, 0.1, 0, 0.9, 2, 0.5))}, bits},
	{"corners far apart", graph.Detect, []any{"form", "corners", "most", 30},
		[]operand{rows(6, 23).filledBy(huge), boxLimits(0, 0.5)}, bits},
	{"yolox", graph.Detect, []any{"form", "yolox", "most", 12, "before", 4},
		[]operand{rows(8, 25), boxLimits(0.2, 0.3), whole(25, 4).filledBy(cells)}, bits},
	{"fcos", graph.Detect, []any{"form", "fcos", "most", 12, "before", 20, "starts", []int{0, 20}, "size",
		[]int{40, 32}}, []operand{rows(8, 25), boxLimits(0.4, 0.3), whole(25, 4).filledBy(anchored)}, bits},
	{"retinanet", graph.Detect, []any{"form", "retinanet", "most", 12, "before", 20, "starts", []int{0, 20},
		"size", []int{40, 48}}, []operand{rows(7, 25), boxLimits(0.5, 0.3), whole(25, 4).filledBy(anchored)}, bits},
	{"ssd", graph.Detect, []any{"form", "ssd", "most", 12, "before", 5, "size", []int{40, 48}},
		[]operand{rows(9, 25), boxLimits(0.2, 0.3), whole(25, 4).filledBy(anchored)}, bits},
	{"ssd, far apart", graph.Detect, []any{"form", "ssd", "most", 3, "size", []int{40, 48}},
		[]operand{rows(7, 25).filledBy(spread), boxLimits(0.01, 0.3), whole(25, 4).filledBy(anchored)}, bits},
}
