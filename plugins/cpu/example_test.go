package cpu_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// ExampleProvider opens a CPU device in this process. The device is as fast as one in a separate process,
// which package fleet opens, but a crash of the device ends the program.
func ExampleProvider() {
	ctx := context.Background()
	d, err := cpu.Provider{}.Open(ctx, "0", device.Options{Threads: 1, Kernels: "generic"})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fmt.Println(d.Info().Kernels, d.Info().Threads)
	// Output: generic 1
}
