package waiting_test

import (
	"os"
	"time"

	"github.com/bnctl/bnctl/internal/waiting"
)

// A short wait prints nothing.
func ExampleNew() {
	l := waiting.New(os.Stdout, true, false, time.Minute)
	defer l.Stop()
	l.Begin("the device cuda:0: conv")
	// Output:
}
