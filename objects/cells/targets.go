package cells

// Targets are the inputs of the loss for one sample, row-major:
//
//	Boxes     [4, A]     corners of the assigned box minus (x, y), in units of the side of the cell
//	Mask      [1, A]     1 for a cell with an object, otherwise 0
//	Positive  [1+C, A]   weights of log(sigmoid(logit)), for an object and for each class
//	Negative  [1+C, A]   weights of log(1 - sigmoid(logit))
//
// For a cell without an object, Boxes has the unit box around the origin. A prediction of zeros means the
// same box.
type Targets struct{ Boxes, Mask, Positive, Negative []float32 }

// Fill writes the targets for objects, which have one of the given number of classes. It returns the number
// of cells that get an object. It overwrites all elements.
func (g *Grid) Fill(t Targets, objects []Object, classes int) (positives int) {
	n := len(g.cells)
	for _, all := range [][]float32{t.Boxes, t.Mask, t.Positive, t.Negative} {
		clear(all)
	}
	for i, k := range g.assign(objects) {
		corners := [4]float32{-0.5, -0.5, 0.5, 0.5}
		switch {
		case k >= 0:
			positives++
			corners = g.cells[i].relative(objects[k].Corners)
			t.Mask[i], t.Positive[i] = 1, 1
			for c := range classes {
				if at := (1+c)*n + i; c == objects[k].Class {
					t.Positive[at] = 1
				} else {
					t.Negative[at] = 1
				}
			}
		case k == background:
			t.Negative[i] = 1
		}
		for j, v := range corners {
			t.Boxes[j*n+i] = v
		}
	}
	return positives
}

// relative returns the corners of a box relative to the upper left corner of the cell, in units of its side.
func (p cell) relative(corners [4]float32) (c [4]float32) {
	for i, v := range corners {
		at := p.x
		if i%2 == 1 {
			at = p.y
		}
		c[i] = v/float32(p.stride) - float32(at)
	}
	return c
}

// Count returns the number of cells that have an object.
func (g *Grid) Count(objects []Object) (positives int) {
	for _, k := range g.assign(objects) {
		if k >= 0 {
			positives++
		}
	}
	return positives
}
