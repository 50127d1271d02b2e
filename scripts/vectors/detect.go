package main

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// detectCases returns the ends of detectors: each form, with ties and with limits of both kinds.
func detectCases() []testCase {
	anchors := whole(25, 4).with(squares)
	size, starts := []int{40, 48}, []int{0, 20}
	return []testCase{
		one(graph.Detect, "corners, ties", []any{"form", "corners", "most", 9}, rows(7, 37).with(corners),
			limits(0.15, 0.3)),
		one(graph.Detect, "corners, the best 4 of a map", []any{"form", "corners", "most", 20, "before", 4,
			"starts", []int{0, 1, 40}}, rows(6, 131).with(corners), limits(0.3, 0.2)),
		one(graph.Detect, "corners, infinities and NaN", []any{"form", "corners", "most", 3},
			rows(6, 23).with(special), limits(0, 0.5)),
		one(graph.Detect, "yolox", []any{"form", "yolox", "most", 12, "before", 4}, rows(8, 25), limits(0.2, 0.3),
			anchors),
		one(graph.Detect, "fcos", []any{"form", "fcos", "most", 12, "before", 20, "starts", starts, "size", size},
			rows(8, 25), limits(0.4, 0.3), anchors),
		one(graph.Detect, "retinanet", []any{"form", "retinanet", "most", 12, "before", 20, "starts", starts,
			"size", size}, rows(7, 25), limits(0.5, 0.3), anchors),
		one(graph.Detect, "ssd", []any{"form", "ssd", "most", 12, "before", 5, "size", size}, rows(9, 25),
			limits(0.2, 0.3), anchors),
	}
}

func limits(score, overlap float64) operand { return rows(2).with(listed(score, overlap)) }

// corners fills [rows, R, A] with corners in whole pixels from 0 to 12, some of boxes without an area, and
// with tenths as scores, so that there are ties.
func corners(d *tensor.Draws, t tensor.Tensor) {
	fields, slots := t.Shape[1], t.Shape[2]
	set(t, func(i int) float64 {
		switch field := i / slots % fields; {
		case field < 2:
			return float64(d.Intn(8))
		case field < 4:
			return float64(4 + d.Intn(9))
		}
		return float64(d.Intn(11)) / 10
	})
}

// squares fills [A, 4] with squares of 8 pixels, five in a line.
func squares(_ *tensor.Draws, t tensor.Tensor) {
	set(t, func(i int) float64 {
		x, y := i/4%5*8, i/20*8
		return float64([4]int{x, y, x + 8, y + 8}[i%4])
	})
}
