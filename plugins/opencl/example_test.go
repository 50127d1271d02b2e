package opencl_test

import "github.com/bnctl/bnctl/plugins/opencl"

// ExampleMain is the whole program bnctl-device-opencl. A program of yours that begins like this is also
// a plugin for OpenCL devices.
func ExampleMain() {
	opencl.Main()
}
