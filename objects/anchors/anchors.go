// Package anchors relates boxes to the slots of torchvision's detectors: the places where a detector can
// predict a box. Use New with the form of a detector, Grid.Fill in training, to assign objects to slots, and
// Grid.Detections to read the boxes of a prediction.
//
// Each slot has an anchor: a box in pixels of the input, relative to which the slot predicts. Slots are
// ordered as in torchvision: by feature map, from fine to coarse, then by cell of the map, row by row, and
// then by the anchors of a cell. The anchors of a cell have one centre: for SSD the centre of the cell, and
// for other forms its upper left corner. The number and the sides of the anchors of a cell depend on the
// form:
//
//   - graph.FCOSForm: a square of 8, 16, 32, 64 or 128 pixels.
//   - graph.RetinaNetForm: nine boxes. Three are squares with sides of s, s*2^(1/3) and s*2^(2/3), where s is
//     32 to 512 pixels. The others have the same areas, and half or twice the ratio of height to width.
//   - graph.SSDForm: six default boxes, which grow with the input: two squares, and boxes with sides in a
//     ratio of 2 and 3.
//
// The first rows of a prediction describe the box, in units of the sides of the anchor:
//
//	FCOS       0 ... 3  distances from the centre of the anchor to the left, upper, right and lower side
//	           4        logit of the centre
//	RetinaNet  0 ... 3  offset of the centre, and logarithms of width and height
//	SSD        0 ... 3  as for RetinaNet, multiplied by 10, 10, 5 and 5
//	           4        logit of the background
//
// The logits of the classes follow.
//
// All functions are defined to the bit, and depend on their arguments alone.
package anchors

import (
	"fmt"

	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/problem"
)

// Grid has the anchors for inputs of one size.
type Grid struct {
	Height, Width int // size of the input, in pixels
	form          graph.BoxForm
	anchors       []box
	starts        []int     // index of the first slot of each map
	corners       []float32 // of each anchor
}

// box has the corners x1, y1, x2, y2.
type box [4]float32

// step is the number of pixels that the sides of inputs must be multiples of.
const step = 32

// New returns the slots of a detector for inputs of a size.
func New(form graph.BoxForm, height, width int) (cells.Slots, error) {
	if form == graph.YOLOXForm {
		return cells.New(height, width)
	}
	return newGrid(form, height, width)
}

func newGrid(form graph.BoxForm, height, width int) (*Grid, error) {
	g, err := newAnchors(form, height, width)
	if err != nil {
		return nil, err
	}
	for _, a := range g.anchors {
		g.corners = append(g.corners, a[:]...)
	}
	return g, nil
}

// newAnchors is like newGrid but without corners.
func newAnchors(form graph.BoxForm, height, width int) (*Grid, error) {
	if height < step || width < step || height%step != 0 || width%step != 0 {
		return nil, problem.Advise(fmt.Sprintf("use sides that are multiples of %d", step),
			"an input of %dx%d has no whole cells of %d pixels", height, width, step)
	}
	g := &Grid{Height: height, Width: width, form: form}
	if form.Fields() == 0 {
		return nil, fmt.Errorf("%q is no form of a detector", form)
	}
	if form == graph.SSDForm {
		g.addDefaults()
		return g, nil
	}
	rows, columns := height/4, width/4
	for m := range 5 {
		rows, columns = (rows+1)/2, (columns+1)/2
		if form != graph.FCOSForm {
			g.add(rows, columns, aroundCell(32<<m))
			continue
		}
		half := float32(int(4) << m)
		g.add(rows, columns, []box{{-half, -half, half, half}})
	}
	return g, nil
}

// add adds the slots of a feature map with this number of rows and columns. cellAnchors has the anchors of a
// cell.
func (g *Grid) add(rows, columns int, cellAnchors []box) {
	g.starts = append(g.starts, len(g.anchors))
	down, across := g.Height/rows, g.Width/columns
	for y := range rows {
		for x := range columns {
			at := box{float32(x * across), float32(y * down), float32(x * across), float32(y * down)}
			for _, a := range cellAnchors {
				for i := range a {
					a[i] += at[i]
				}
				g.anchors = append(g.anchors, a)
			}
		}
	}
}

// Len returns the number of slots.
func (g *Grid) Len() int { return len(g.anchors) }

// Anchor returns the corners x1, y1, x2, y2 of the anchor of a slot, in pixels.
func (g *Grid) Anchor(slot int) [4]float32 { return g.anchors[slot] }

// Units returns the factors of the first four rows of a prediction: 10, 10, 5 and 5 for
// SSD, and 1 for other forms.
func (g *Grid) Units() [4]float64 {
	if g.form == graph.SSDForm {
		return detection.Units
	}
	return [4]float64{1, 1, 1, 1}
}

// Fields returns the number of rows of a prediction before the rows of classes.
func (g *Grid) Fields() int { return g.form.Fields() }

// TargetRows returns the number of rows of Targets.Positive and Targets.Negative: one for
// each class, and one for the centre of FCOS or the background of SSD.
func (g *Grid) TargetRows(classes int) int { return g.Fields() - 4 + classes }

// Assign returns for each slot the index of the object that is assigned to it, or a negative number if there
// is none.
func (g *Grid) Assign(objects []cells.Object) []int {
	switch g.form {
	case graph.FCOSForm:
		return g.assignInside(objects)
	case graph.SSDForm:
		return g.assignDefaults(objects)
	}
	return g.assignByOverlap(objects)
}

// centre returns the centre of a box.
func (b box) centre() (x, y float32) { return (b[0] + b[2]) / 2, (b[1] + b[3]) / 2 }

func (b box) area() float32 { return float32((b[2] - b[0]) * (b[3] - b[1])) }
