// Bnctl-device-opencl is the plugin of bnctl for devices with OpenCL. bnctl finds it next
// to its executable; `bnctl-device-opencl describe` prints a description. It opens
// libOpenCL when it runs, so it is a dynamic executable, separate from bnctl, which is a
// static one.
package main

import "github.com/bnctl/bnctl/plugins/opencl"

func main() { opencl.Main() }
