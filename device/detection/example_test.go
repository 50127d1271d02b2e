package detection_test

import (
	"fmt"

	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/graph"
)

// Detect chooses among three slots with the scores of two classes. The second box overlaps the first by
// 0.9.
func ExampleDetector_Detect() {
	d := detection.Detector{Form: graph.CornersForm, Most: 10}
	prediction := []float32{
		0, 0, 0, // x1
		0, 0, 0, // y1
		10, 10, 10, // x2
		10, 9, 10, // y2
		0.9, 0.8, 0, // class 0
		0, 0, 0.7, // class 1
	}
	for _, b := range d.Detect(detection.Ordered(prediction, 3), detection.Limits{Score: 0.1, Overlap: 0.5}) {
		fmt.Println(b.Class, b.Score, b.Corners)
	}
	// Output:
	// 0 0.9 [0 0 10 10]
	// 1 0.7 [0 0 10 10]
}
