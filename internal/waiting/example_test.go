package waiting_test

import (
	"os"
	"time"

	"github.com/bnctl/bnctl/internal/waiting"
)

// Nothing is said of what does not take long.
func ExampleNew() {
	l := waiting.New(os.Stdout, true, false, time.Minute)
	defer l.Stop()
	l.Begin("the device cuda:0: conv")
	// Output:
}
