package anchors

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
)

// Fill writes the targets for objects, which have one of the given number of classes. It returns the number
// of slots that get an object. It overwrites all elements:
//
//	Boxes      [4, A]   the box in the units of the form, see below
//	Mask       [1, A]   1 for a slot with an object, otherwise 0
//	Positive   [R, A]   weights of log(sigmoid(logit)): 1 for the class, and the target of FCOS's centre
//	Negative   [R, A]   weights of log(1 - sigmoid(logit)): 1 for other classes, and 1 minus that target
//
// For FCOS, Boxes has the distances to the sides of the box, and 1 without an object. For RetinaNet and SSD
// it has the numbers that the network predicts for the box, and 0 without an object. For the second version
// of RetinaNet it has the corners relative to the centre of the anchor, in units of its sides; without an
// object these are the corners of the anchor itself. For SSD, fillClass describes Positive and Negative.
func (g *Grid) Fill(t cells.Targets, objects []cells.Object, classes int) (positives int) {
	n := len(g.anchors)
	for _, all := range [][]float32{t.Mask, t.Positive, t.Negative} {
		clear(all)
	}
	first := g.Fields() - 4
	for i, k := range g.Assign(objects) {
		class := -1
		if k >= 0 {
			positives++
			class, t.Mask[i] = objects[k].Class, 1
		}
		target := g.target(i, k, objects)
		for j, v := range target {
			t.Boxes[j*n+i] = v
		}
		if g.form == graph.SSDForm {
			g.fillClass(t, i, k, class)
			continue
		}
		if g.form == graph.FCOSForm && k >= 0 {
			q := centreness(target)
			t.Positive[i], t.Negative[i] = q, 1-q
		}
		for c := range classes {
			switch at := (first+c)*n + i; {
			case c == class:
				t.Positive[at] = 1
			case k != unknown:
				t.Negative[at] = 1
			}
		}
	}
	return positives
}

// target returns the column of Targets.Boxes for slot i, which object k is assigned to.
func (g *Grid) target(i, k int, objects []cells.Object) (v [4]float32) {
	if k < 0 {
		return map[graph.BoxForm][4]float32{graph.FCOSForm: {1, 1, 1, 1},
			graph.RetinaNetV2Form: {-0.5, -0.5, 0.5, 0.5}}[g.form]
	}
	a, b := g.anchors[i], box(objects[k].Corners)
	switch g.form {
	case graph.RetinaNetForm:
		return offsets(a, b)
	case graph.SSDForm:
		return defaultOffsets(a, b)
	case graph.RetinaNetV2Form:
		return inSides(a, b)
	}
	x, y := a.centre()
	v = distances(x, y, b)
	for j := range v {
		v[j] /= a[2+j%2] - a[j%2]
	}
	return v
}
