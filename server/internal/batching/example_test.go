package batching_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/server/internal/batching"
	"github.com/bnctl/bnctl/tensor"
)

// Rows from many goroutines pass through one function, in batches of at most 32 rows.
func ExampleQueue() {
	double := func(x tensor.Tensor) ([]tensor.Tensor, error) {
		y := tensor.New(tensor.F32, x.Shape...)
		for i, v := range x.F32() {
			y.F32()[i] = 2 * v
		}
		return []tensor.Tensor{y}, nil
	}
	q := batching.New(tensor.F32, []int{2}, batching.Options{MaxBatch: 32, MaxQueue: 1000}, double)
	defer q.Close()
	a, err := q.Do(context.Background(), tensor.Of([]float32{1, 2, 3, 4}, 2, 2)) // two rows
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Outputs[0].F32())
	// Output: [2 4 6 8]
}
