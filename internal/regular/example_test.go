package regular_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/bnctl/bnctl/internal/regular"
)

// A folder, as a pipe or a terminal, is refused at once, and a file that is
// larger than expected before it is read.
func ExampleRead() {
	_, err := regular.Read(os.TempDir(), 1<<20)
	fmt.Println(errors.Is(err, regular.ErrNotRegular))
	// Output: true
}
