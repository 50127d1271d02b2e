package legible_test

import (
	"fmt"

	"github.com/bnctl/bnctl/internal/legible"
)

// A name that would clear the screen and begin a separate line.
func ExampleText() {
	fmt.Println(legible.Text("cat\x1b[2J.jpg\nok: all is well"))
	// Output: cat\x1b[2J.jpg\nok: all is well
}
