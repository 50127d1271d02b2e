package spec_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/spec"
)

// Check a device against the vectors that are part of the program.
func ExampleSmall() {
	ctx := context.Background()
	d, err := ref.Provider{}.Open(ctx, device.DefaultID, device.Options{Kernels: "fma"})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	vectors, err := spec.Small()
	if err != nil {
		log.Fatal(err)
	}
	s := spec.JudgeAll(ctx, d, vectors, func(o spec.Outcome) {
		for _, line := range o.Lines() {
			fmt.Println(line)
		}
	})
	fmt.Println(s.Classes, s.Faults)
	// Output: [fma/1 int8/1] 0
}
