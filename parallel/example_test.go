package parallel_test

import (
	"fmt"

	"github.com/bnctl/bnctl/parallel"
)

// A batch of 10 samples is split among 4 replicas. The result does not depend on the
// devices that hold them.
func ExampleSplit() {
	fmt.Println(parallel.Split(10, 4))
	// Output: [3 3 2 2]
}
