package cuda_test

import "github.com/bnctl/bnctl/plugins/cuda"

// The whole program bnctl-device-cuda. A program of yours that begins like this is the
// plugin for NVIDIA GPUs too.
func ExampleMain() {
	cuda.Main()
}
