// Package cells relates boxes to the cells of a detector. Each cell of its feature maps predicts one box. Use
// Grid.Fill in training, to assign boxes to cells, and Grid.Detections to read the boxes of a prediction.
//
// Cells are ordered by map, from fine to coarse, and row by row within a map. A prediction is the output
// "yolox" of package models, f32 [5+C, A] for C classes and A cells. For a cell of s pixels in column x and
// row y of its map, the rows are
//
//	0, 1      (centre of the box)/s - (x, y)
//	2, 3      logarithms of width/s and height/s
//	4         logit of an object
//	5 ...     logits of the classes
//
// All functions are defined to the bit, and depend on their arguments alone.
package cells

import (
	"fmt"

	"github.com/bnctl/bnctl/problem"
)

// Fields is the number of rows of a prediction before the rows of classes.
const Fields = 5

// strides are the sides of the cells of each feature map, in pixels.
var strides = []int{8, 16, 32}

// Grid has the cells for inputs of one size.
type Grid struct {
	Height, Width int // size of the input, in pixels
	cells         []cell
	starts        []int     // index of the first cell of each map
	corners       []float32 // of each cell
}

// cell has the column and row of a cell, and its side in pixels.
type cell struct{ x, y, stride int }

// New returns the cells for inputs of a size.
func New(height, width int) (*Grid, error) {
	coarse := strides[len(strides)-1]
	if height < coarse || width < coarse || height%coarse != 0 || width%coarse != 0 {
		return nil, problem.Advise(fmt.Sprintf("use sides that are multiples of %d", coarse),
			"an input of %dx%d has no whole cells of %d pixels", height, width, coarse)
	}
	g := &Grid{Height: height, Width: width}
	for _, s := range strides {
		g.starts = append(g.starts, len(g.cells))
		for y := range height / s {
			for x := range width / s {
				g.cells = append(g.cells, cell{x, y, s})
				g.corners = append(g.corners, float32(x*s), float32(y*s), float32(x*s+s), float32(y*s+s))
			}
		}
	}
	return g, nil
}

// Position returns the column and row of cell i in its map, and its side in pixels.
func (g *Grid) Position(i int) (column, row, side int) {
	return g.cells[i].x, g.cells[i].y, g.cells[i].stride
}

// Len returns the number of cells.
func (g *Grid) Len() int { return len(g.cells) }
