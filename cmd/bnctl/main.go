// Command bnctl trains batch-normalised networks data-parallel on any mix of
// devices, strips what that leaves behind, and predicts with the one template
// model that remains.
package main

import (
	"context"
	"os"

	"github.com/bnctl/bnctl/internal/ulimit"
)

func main() {
	if code, ok := ulimit.Supervise(os.Stderr, "serve-device"); ok {
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		collectLate()
	}
	os.Exit(run(context.Background(), os.Args, os.Stdout, os.Stderr))
}
