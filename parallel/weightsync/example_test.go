package weightsync_test

import (
	"fmt"

	"github.com/bnctl/bnctl/parallel/weightsync"
)

// A recipe names the method.
func Example() {
	method, err := weightsync.ParseSync("async:2")
	if err != nil {
		fmt.Println(err)
		return
	}
	span, ok := method.Span()
	fmt.Println(span, ok)
	// Output: 2 true
}
