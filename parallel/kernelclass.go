package parallel

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
)

// KernelClass returns the kernel class of a group of devices, "fma+ref" if they have several, and
// whether the group is deterministic. Devices of one kernel class give the same bits. If the group
// is deterministic, the trained weights depend only on the recipe. With several classes they also
// depend on the placement of replicas.
func KernelClass(group []Member) (class string, deterministic bool) {
	var classes []string
	deterministic = true
	for _, m := range group {
		info := m.Device.Info()
		classes = append(classes, info.Kernels)
		deterministic = deterministic && info.Has(device.Deterministic)
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	return strings.Join(classes, "+"), deterministic && len(classes) == 1
}
