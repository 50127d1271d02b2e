package suppress_test

import (
	"fmt"

	"github.com/bnctl/bnctl/device/suppress"
)

// Three boxes of two classes: the second box overlaps the first by 0.9, and the third is of another
// class.
func ExampleClasswise() {
	boxes := []suppress.Corners{{0, 0, 10, 10}, {0, 0, 10, 9}, {0, 0, 10, 10}}
	scores, classes := []float32{0.9, 0.8, 0.7}, []int{0, 0, 1}
	fmt.Println(suppress.Classwise(boxes, scores, classes, suppress.Options{Overlap: 0.5, Score: 0.1}))
	fmt.Println(suppress.Classwise(boxes, scores, classes, suppress.Options{Overlap: 0.5, Before: 1, Most: 1}))
	// Output:
	// [0 2]
	// [0]
}

// The operator of ONNX: two boxes of one class in one picture.
func ExampleONNX() {
	threshold := float32(0.5)
	fmt.Println(suppress.ONNX(suppress.ONNXInput{Boxes: []float32{5, 5, 10, 10, 50, 5, 10, 10},
		Scores: []float32{0.6, 0.9}, Batch: 1, Classes: 1, Count: 2, MostPerClass: 10, Overlap: 0.5,
		Score: &threshold, Center: true}))
	// Output: [[0 0 1] [0 0 0]]
}
