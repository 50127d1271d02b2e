package cuda_test

import "github.com/bnctl/bnctl/plugins/cuda"

// ExampleMain is the whole program bnctl-device-cuda. A program of yours that begins like this is also a
// plugin for NVIDIA GPUs.
func ExampleMain() {
	cuda.Main()
}
