// Package cuda is the CUDA device plugin: bnctl-device-cuda is its executable.
//
// Use Main to build the plugin into your program; it is the only function to call.
package cuda

import (
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/plugins/cuda/internal/cuda"
)

// Main is the main function of the plugin.
func Main() { serve.Main(cuda.Provider{}) }
