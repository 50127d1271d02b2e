package fit_test

import (
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/tensor"
)

// A model of pictures u8[28,28,1], with arrays that are normalised already.
func ExampleModel() {
	m, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	arrays := data.Info{Kind: "npy", Len: 3, DType: tensor.F32, Shape: []int{1, 28, 28}}
	fitted, err := fit.Model(m, arrays)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Input(), "becomes", fitted.Input())
	arrays.Shape = []int{3, 32, 32}
	_, err = fit.Model(m, arrays)
	fmt.Println(err)
	// Output:
	// rows u8[28,28,1] becomes rows f32[1,28,28]
	// the model takes arrays f32[1,28,28], a sample of npy is f32[3,32,32]
}
