// Package opencl is the OpenCL device plugin: bnctl-device-opencl is its executable.
//
// Use Main to build the plugin into your program; it is the only function to call.
package opencl

import (
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/plugins/opencl/internal/opencl"
)

// Main is the main function of the plugin.
func Main() { serve.Main(opencl.Provider{}) }
