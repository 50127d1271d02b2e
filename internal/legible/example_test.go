package legible_test

import (
	"fmt"

	"github.com/bnctl/bnctl/internal/legible"
)

// This name would clear the screen and begin another line.
func ExampleText() {
	fmt.Println(legible.Text("cat\x1b[2J.jpg\nok: all is well"))
	// Output: cat\x1b[2J.jpg\nok: all is well
}
