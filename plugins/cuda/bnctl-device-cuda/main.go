// Bnctl-device-cuda is the plugin of bnctl for NVIDIA GPUs. bnctl finds it next to its
// executable; `bnctl-device-cuda describe` prints a description. It opens NVIDIA's
// libraries when it runs, so it is a dynamic executable, separate from bnctl, which is a
// static one.
package main

import "github.com/bnctl/bnctl/plugins/cuda"

func main() { cuda.Main() }
