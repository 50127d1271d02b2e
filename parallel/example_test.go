package parallel_test

import (
	"fmt"

	"github.com/bnctl/bnctl/parallel"
)

// A batch of 10 samples on 4 replicas. Which device holds which replica changes
// nothing of the result.
func ExampleSplit() {
	fmt.Println(parallel.Split(10, 4))
	// Output: [3 3 2 2]
}
