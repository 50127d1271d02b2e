package parts_test

import (
	"fmt"

	"github.com/bnctl/bnctl/parts"
)

// A recipe lists the numbers of the parts that it uses.
func Example() {
	fmt.Println(parts.Number("optimizer.sgd"), parts.Has("optimizer.sgd/1"), parts.Has("optimizer.sgd/2"))
	// Output: optimizer.sgd/1 true false
}
