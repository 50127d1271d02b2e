package tensor_test

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// A tensor is a type, a shape and bytes in row-major order. View shares them.
func Example() {
	x := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	x.F32()[5] = 7
	fmt.Println(x, x.F32(), len(x.Bytes))
	fmt.Println(tensor.Close(x, tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3), tensor.Tolerance{}))
	// Output:
	// f32[2,3] [1 2 3 4 5 7] 24
	// 1 of 6 elements of f32[2,3] differ: first [1 2]: got 7, want 6
}

// Draws depend on the seed, their purpose and the place of use, never on earlier draws.
func ExamplePhilox() {
	d := tensor.NewPhilox(42, tensor.StreamOrder).Draws(3, 0) // epoch 3, sample 0
	fmt.Println(d.Perm(5))
	// Output: [4 0 3 2 1]
}
