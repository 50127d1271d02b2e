//go:build js

package main

import (
	"strings"

	"github.com/bnctl/bnctl/device/suppress"
	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/tensor"
)

// leastScore is the least score of a box that is shown, and mostOverlap the largest overlap of two shown
// boxes.
const (
	leastScore  = 0.5
	mostOverlap = 0.5
)

// boxesOf returns the boxes of a detector, the best first, or nil if the model is not a detector. A detector
// has an output f32[N,4] with "box" in its name, the corners as fractions from 0 to 1, and an output of
// scores, f32[N,C], with the background as class 0.
func boxesOf(p *inprocess.Predictor, outputs []tensor.Tensor) []any {
	at := -1
	isRows := func(t tensor.Tensor) bool { return t.DType == tensor.F32 && len(t.Shape) == 2 }
	for i, t := range outputs {
		if isRows(t) && t.Shape[1] == 4 && strings.Contains(strings.ToLower(p.Outputs()[i].Name), "box") {
			at = i
		}
	}
	for i, t := range outputs {
		if at >= 0 && i != at && isRows(t) && t.Shape[0] == outputs[at].Shape[0] {
			return suppressed(outputs[at].F32(), t.F32(), t.Shape[1])
		}
	}
	return nil
}

func suppressed(corners, scores []float32, classes int) []any {
	var boxes []suppress.Corners
	var score []float32
	var class []int
	for i, s := range scores {
		if c := i % classes; c > 0 {
			boxes, score, class = append(boxes, suppress.Corners(corners[4*(i/classes):])), append(score, s),
				append(class, c)
		}
	}
	list := []any{}
	o := suppress.Options{Overlap: mostOverlap, Score: leastScore}
	for _, i := range suppress.Classwise(boxes, score, class, o) {
		b := boxes[i]
		list = append(list, map[string]any{"x1": b[0], "y1": b[1], "x2": b[2], "y2": b[3], "class": class[i],
			"score": score[i]})
	}
	return list
}
