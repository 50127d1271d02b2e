package gpu_test

import (
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/gpu"
)

// A device consists of a Driver, which knows one kind of hardware, and the kernels that the
// Driver has built. This one has no hardware yet.
func ExampleNew() {
	var driver gpu.Driver
	d := gpu.New(device.Info{Name: "mine:0"}, driver)
	fmt.Println(d.Info().Name, len(d.Info().Ops) > 0)
	// Output: mine:0 true
}
