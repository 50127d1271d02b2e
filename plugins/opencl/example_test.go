package opencl_test

import "github.com/bnctl/bnctl/plugins/opencl"

// The whole program bnctl-device-opencl. A program of yours that begins like this is the
// plugin for OpenCL devices too.
func ExampleMain() {
	opencl.Main()
}
