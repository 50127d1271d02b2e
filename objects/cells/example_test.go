package cells_test

import (
	"fmt"

	"github.com/bnctl/bnctl/objects/cells"
)

// The example reads a prediction with one object.
func ExampleGrid_Detections() {
	grid, err := cells.New(64, 64)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := grid.Len()
	rows := make([]float32, (cells.Fields+1)*n) // of one class
	for i := range n {
		rows[4*n+i] = -9 // no object
	}
	rows[9], rows[4*n+9], rows[5*n+9] = 0.5, 9, 9 // column 1 of row 1 of the finest map
	for _, d := range grid.Detections(rows, cells.Options{Score: 0.5, Overlap: 0.65}) {
		fmt.Printf("class %d at %v\n", d.Class, d.Corners)
	}
	// Output: class 0 at [8 4 16 12]
}
