package fleet

import (
	"os"
	"slices"

	"github.com/bnctl/bnctl/problem"
)

// gpuFolder has an entry for each GPU of the NVIDIA driver for Linux. It is a variable so that tests can
// change it.
var gpuFolder = "/proc/driver/nvidia/gpus"

// mentionGPUs notes the GPUs that could compute, if the fleet uses only other devices. It
// does not start a plugin, because a CUDA context costs time and GPU memory, and is one more
// client of the driver.
func (f *Fleet) mentionGPUs(targets []target) {
	isGPU := func(t target) bool { return t.plugin == "cuda" }
	if f.options.Note == nil || f.options.Devices == "auto" || slices.ContainsFunc(targets, isGPU) {
		return // auto has already considered the GPUs
	}
	gpus, err := os.ReadDir(gpuFolder)
	if err != nil || len(gpus) == 0 {
		return
	}
	if found, err := f.options.Plugins.Find(); err == nil && slices.ContainsFunc(found, named("cuda")) {
		f.note("unused here: %s; devices cuda takes all", problem.Plural(len(gpus), "CUDA device"))
	}
}
