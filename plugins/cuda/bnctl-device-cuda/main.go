// Bnctl-device-cuda is the plugin of bnctl for NVIDIA GPUs. bnctl finds it
// beside its own executable; run as `bnctl-device-cuda describe` it says what
// it is. It opens NVIDIA's libraries when it runs, so it is a dynamic
// executable, apart from bnctl, which is a static one.
package main

import "github.com/bnctl/bnctl/plugins/cuda"

func main() { cuda.Main() }
