package anchors

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
)

// Fill writes the targets for objects with one of a number of classes, and returns the number of slots
// that have one. All elements are overwritten. In the units of a prediction they are
//
//	Boxes      [4, A]   of FCOS the distances to the sides of the box, 1 without an object; of RetinaNet and
//	                    SSD the prediction of the box, 0 without an object; of RetinaNet's second version the
//	                    corners from the centre of the anchor in its sides, the anchor without an object
//	Mask       [1, A]   1 for a slot with an object, otherwise 0
//	Positive   [R, A]   weights of log(sigmoid(logit)): of FCOS the target of the centre, and 1 for the class;
//	                    of SSD 1 for the class or for the background in row 0
//	Negative   [R, A]   weights of log(1 - sigmoid(logit)): 1 minus that target, and 1 for other classes;
//	                    of SSD the order of slots of background in row 0: see fillClass
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

// target returns the column of Targets.Boxes of slot i with object k.
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
