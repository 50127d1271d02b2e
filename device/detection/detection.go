// Package detection defines the operation graph.Detect: it decodes the predictions of a detector, and removes
// boxes that overlap a better box of their class. Devices and packages objects/cells and objects/anchors
// share it. Use NodeDetector for a node, and Detector.Detect for the boxes of one picture.
//
// A slot is a place that predicts a box. A candidate is a class of a slot with a score above the limit. All
// numbers are computed in float64 and rounded to float32 once; candidates are removed in float32: see package
// device/suppress. Results are defined to the bit.
package detection

import (
	"math"

	"github.com/bnctl/bnctl/device/suppress"
	"github.com/bnctl/bnctl/graph"
)

// boxFields is the number of elements of a row in the result of graph.Detect. Each row after the first is
// a box: its corners, score and class. The first row has the number of boxes.
const boxFields = 6

// Elements returns the number of elements of a result of graph.Detect with a maximum number of boxes.
func Elements(most int) int { return (1 + most) * boxFields }

// Detector has the slots of a detector, and the maximum numbers of candidates and boxes.
type Detector struct {
	Form          graph.BoxForm
	Height, Width int       // size of the input, in pixels
	Anchors       []float32 // corners of each slot's anchor; for graph.YOLOXForm, of its cell
	Starts        []int     // first slot of each group of slots; nil: a group is a class
	Before        int       // in each group only this many candidates, the best, are used; 0: all
	Most          int       // only this many boxes, the best, are returned; 0: all
}

// Limits has the limits for the boxes of a picture.
type Limits struct {
	Score   float32 // candidates have a greater score
	Overlap float32 // a candidate is removed if it overlaps a better box of its class by more
}

// Box is a detected box.
type Box struct {
	Corners suppress.Corners // in pixels of the input
	Class   int
	Score   float32
}

// Prediction is the prediction [R, A] for a picture. Row and Slot are the distances between neighbours along
// its axes in Values.
type Prediction struct {
	Values    []float32
	Rows      int
	Row, Slot int
}

// Ordered returns the prediction with these values, which are stored row by row. Each row has one value
// for each slot.
func Ordered(values []float32, slots int) Prediction {
	return Prediction{values, len(values) / slots, slots, 1}
}

func (p *Prediction) value(row, slot int) float32 { return p.Values[row*p.Row+slot*p.Slot] }

// NodeDetector returns the detector of a node graph.Detect with its operand anchors, which may be nil.
func NodeDetector(n *graph.Node, anchors []float32) *Detector {
	d := &Detector{Form: graph.BoxForm(n.Text("form")), Anchors: anchors, Starts: n.Ints("starts"),
		Before: n.Int("before"), Most: n.Int("most")}
	if size := n.Ints("size"); len(size) > 0 {
		d.Height, d.Width = size[0], size[1]
	}
	return d
}

// Run computes graph.Detect for a picture. All elements of y are overwritten.
func (d *Detector) Run(y []float32, p Prediction, limits []float32) {
	clear(y)
	if !isFinite(p.Values) {
		y[0] = float32(math.NaN())
		return
	}
	found := d.Detect(p, Limits{limits[0], limits[1]})
	y[0] = float32(len(found))
	for i, b := range found {
		row := y[(1+i)*boxFields:][:boxFields]
		copy(row, b.Corners[:])
		row[4], row[5] = b.Score, float32(b.Class)
	}
}

// Boxes returns the boxes of a result of graph.Detect. ok is false if an element of the prediction was
// infinite or NaN.
func Boxes(y []float32) (list []Box, ok bool) {
	if y[0] != y[0] {
		return nil, false
	}
	for i := range int(y[0]) {
		row := y[(1+i)*boxFields:][:boxFields]
		list = append(list, Box{suppress.Corners(row[:4]), int(row[5]), row[4]})
	}
	return list, true
}

func isFinite(values []float32) bool {
	var sum [4]float32 // stays 0 if all values are finite
	for len(values) >= 4 {
		for k, v := range values[:4] {
			sum[k] += v - v
		}
		values = values[4:]
	}
	for _, v := range values {
		sum[0] += v - v
	}
	return sum[0]+sum[1]+sum[2]+sum[3] == 0
}

// Detect returns the boxes of a picture, the highest score first. Of equal scores the lower slot is first,
// then the lower class. Boxes with NaN are left out.
func (d *Detector) Detect(p Prediction, l Limits) (list []Box) {
	c := &candidates{detector: d, prediction: p, slot: -1}
	c.find(l.Score)
	c.limit()
	for _, k := range suppress.Classwise(c.boxes, c.scores, c.classes, suppress.Options{Overlap: l.Overlap,
		Score: l.Score, Most: d.Most}) {
		list = append(list, Box{c.boxes[k], c.classes[k], c.scores[k]})
	}
	return list
}
