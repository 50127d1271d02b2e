package augmentation_test

import (
	"fmt"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// Example parses a chain, which adds the default arguments, and mirrors four pixels.
func Example() {
	a, err := augmentation.Parse("flip:1 erase")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a)
	flip, _ := augmentation.Parse("flip:1")
	src, dst := images.Plane{H: 1, W: 4, C: 1, Pix: []byte{10, 20, 30, 40}}, images.NewPlane(1, 4, 1)
	draws := tensor.NewPhilox(1, tensor.StreamAugment).Draws(0, 0)
	flip.Apply(images.Scaling{}, dst, src, &draws)
	fmt.Println(dst.Pix)
	// Output:
	// flip:1 erase:0.5,0.02,0.33
	// [40 30 20 10]
}
