package memory_test

import (
	"fmt"

	"github.com/bnctl/bnctl/internal/memory"
)

// Whether something fits. Where the system does not tell, nothing is known.
func ExampleMachine() {
	const want = 1 << 10
	_, available := memory.Machine()
	fmt.Println(available == 0 || want < available)
	// Output: true
}
