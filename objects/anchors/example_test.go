package anchors_test

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/cells"
)

// The example reads the output of an FCOS with one class. All logits are low, except in the third column of
// the second row.
func ExampleNew() {
	grid, err := anchors.New(graph.FCOSForm, 64, 64)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := grid.Len()
	rows := make([]float32, 6*n)
	for i := 4 * n; i < 6*n; i++ {
		rows[i] = -9
	}
	for row, v := range []float32{1, 1, 2, 3, 9, 9} { // sides of 8 pixels to the left, up, right and down
		rows[row*n+8+2] = v
	}
	for _, d := range grid.Detections(rows, cells.Options{Score: 0.3, Overlap: 0.6}) {
		fmt.Println(d.Corners, d.Class)
	}
	// Output: [8 0 32 32] 0
}
