// Command bnctl trains batch-normalised networks on any mix of devices, removes the traces of training on
// many devices, and predicts with the one template that remains.
package main

import (
	"context"
	"os"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/collection"
	"github.com/bnctl/bnctl/internal/ulimit"
)

// addressSpace is the message if a run has ended because of the limit of its address space, in MiB.
const addressSpace = "bnctl: out of memory: the address space is limited to %d MiB; raise the limit " +
	"(ulimit -v unlimited), or use a smaller batch"

func main() {
	if code, ok := ulimit.Supervise(os.Stderr, addressSpace, "serve-device"); ok {
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		collection.Delay()
	}
	os.Exit(run(context.Background(), os.Args, os.Stdout, os.Stderr))
}
