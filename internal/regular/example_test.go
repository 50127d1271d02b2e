package regular_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/bnctl/bnctl/internal/regular"
)

// A folder, a pipe or a terminal is rejected at once, and a file that is larger than
// expected is rejected before it is read.
func ExampleRead() {
	_, err := regular.Read(os.TempDir(), 1<<20)
	fmt.Println(errors.Is(err, regular.ErrNotRegular))
	// Output: true
}
