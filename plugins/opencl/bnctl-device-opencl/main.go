// Bnctl-device-opencl is the plugin of bnctl for devices with OpenCL. bnctl finds
// it beside its own executable; run as `bnctl-device-opencl describe` it says what
// it is. It opens libOpenCL when it runs, so it is a dynamic executable, apart
// from bnctl, which is a static one.
package main

import "github.com/bnctl/bnctl/plugins/opencl"

func main() { opencl.Main() }
