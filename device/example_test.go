package device_test

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// Device errors have a kind, which is preserved across processes. The kind determines how
// the caller should proceed.
func ExampleErrorf() {
	err := fmt.Errorf("replica 1: %w", device.Errorf("cuda:1", "Load", device.OutOfMemory, "want %d MiB, have %d", 512, 98))
	fmt.Println(err)
	fmt.Println(errors.Is(err, device.OutOfMemory), errors.Is(err, device.Lost))
	// Output:
	// replica 1: cuda:1: Load: out of memory: want 512 MiB, have 98
	// true false
}
