package collective_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// Eight replicas on two devices. Each device sums the largest subtrees that it holds, and
// the rest is summed along the same tree: the result equals that of one device.
func ExampleCombine() {
	leaf := func(r int) tensor.Tensor { return tensor.Of([]float32{1 / float32(r+1)}, 1) }
	alone := collective.Reduce(collective.Sum, collective.Root(8), leaf)
	var parts []collective.Partial
	for _, held := range [][]int{{0, 1, 2, 3, 4}, {5, 6, 7}} {
		nodes := collective.Cover(8, held)
		fmt.Println("replicas", held, "are", nodes)
		for _, n := range nodes {
			parts = append(parts, collective.Partial{Node: n, Value: collective.Reduce(collective.Sum, n, leaf)})
		}
	}
	sum, err := collective.Combine(collective.Sum, 8, parts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Equal(sum, alone))
	// Output:
	// replicas [0 1 2 3 4] are [[0,4) [4,5)]
	// replicas [5 6 7] are [[5,6) [6,8)]
	// true
}
