package detect_test

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/tensor"
)

// The example reads the output of a detector for a picture of 128 x 96 pixels, which fills 64 x 48 pixels of
// the input.
func ExampleDetector_Boxes() {
	m, err := models.Build("yolox-nano", models.Options{Input: models.Size{Height: 64, Width: 64, Channels: 3}, Classes: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Labels = []string{"cat", "dog"}
	d, err := detect.New(m, detect.Default)
	if err != nil {
		fmt.Println(err)
		return
	}
	output := tensor.New(tensor.F32, 7, 84)
	rows := output.F32()
	for i := range 84 {
		rows[4*84+i] = -9
	}
	rows[9], rows[4*84+9], rows[6*84+9] = 0.5, 9, 9
	boxes, err := d.Boxes([]tensor.Tensor{output}, 96, 128)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range boxes {
		fmt.Printf("%s %v\n", b.Label, b.Corners)
	}
	// Output: dog [16 8 32 24]
}
