package bn_test

import (
	"fmt"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// Two replicas saw the values 1, 3 and 11, 13 of one channel. Averaging their variances loses the
// spread between them.
func Example() {
	moments := tensor.Of([]float64{
		2, 2, 2, // for each replica: n, mean, sum of squared deviations
		2, 12, 2,
	}, 2, 3)
	layers := []bn.Layer{{Name: "bn1", Mean: "bn1.mean", Variance: "bn1.var", Channels: 1, Decay: 0.9}}
	start := map[string]tensor.Tensor{"bn1.mean": tensor.Of([]float32{0}, 1),
		"bn1.var": tensor.Of([]float32{1}, 1)}
	for _, rule := range bn.Rules() {
		s, err := bn.New(layers, start, bn.Replica, rule)
		if err != nil {
			fmt.Println(err)
			return
		}
		if s, err = s.Next([]tensor.Tensor{moments}); err != nil {
			fmt.Println(err)
			return
		}
		t := s.Tensors()
		fmt.Printf("%-6s mean %.2f variance %.2f\n", rule, t["bn1.mean"].F32()[0], t["bn1.var"].F32()[0])
	}
	// Output:
	// pooled mean 0.70 variance 4.37
	// mean   mean 0.70 variance 1.10
	// first  mean 0.20 variance 1.10
}

// A tail of one sample cannot be normalised over itself. That is known before
// the run starts.
func ExampleFeasible() {
	layers := []bn.Layer{{Name: "bn1", Channels: 256, Elements: 1}}
	err := bn.Feasible(layers, bn.Replica, []bn.Partition{
		{What: "the full batch", Rows: []int{8, 8}},
		{What: "the tail", Rows: []int{2, 1}},
	})
	fmt.Println(err)
	// Output:
	// batch: layer bn1: replica 1 has one value per channel in the tail (1 row), and the variance of one value is undefined; use tail drop, tail repeat, bn sync, fewer replicas, another batch or bn-min running
}
