package memory_test

import (
	"fmt"

	"github.com/bnctl/bnctl/internal/memory"
)

// Check whether something fits into memory. On a system that does not report its memory, the answer is
// unknown.
func ExampleMachine() {
	const want = 1 << 10
	_, available := memory.Machine()
	fmt.Println(available == 0 || want < available)
	// Output: true
}
