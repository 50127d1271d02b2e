package local_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cpu/local"
)

// The device has the features of a device process, and shares the memory of the program.
func ExampleOpen() {
	d, err := local.Open(context.Background(), device.Options{Threads: 2, Kernels: "generic"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.Info().Name, d.Info().Threads, d.Info().Kernels)
	// Output: cpu 2 generic
}
