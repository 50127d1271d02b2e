package fleet

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
)

// classes are the kernel classes of CPUs, the best first. A CPU that supports one class
// also supports all that follow. Other devices have a single class.
var classes = []string{class.AMX, class.FMA, class.Generic}

// lesserClass returns a or b: the one that devices of both classes support. It returns false if a and b
// differ and one of them is not in the list classes.
func lesserClass(a, b string) (string, bool) {
	i, k := slices.Index(classes, a), slices.Index(classes, b)
	if a == b || i >= 0 && k >= 0 {
		return []string{a, b}[min(1, max(0, k-i))], true
	}
	return "", false
}

// commonClass returns the kernel class to open targets with. This is the requested class. For
// "auto" it is the best class that all targets have and that gives the same results on each of
// them; without a common class, each target uses its best class. The best class at float32 is
// "fma", because matrix units are slower for float32.
func commonClass(requested, precision string, targets []target) string {
	if requested != "" && requested != "auto" {
		return requested
	}
	least := slices.Index(classes, class.FMA)
	if precision == device.BF16 {
		least = slices.Index(classes, class.AMX)
	}
	for _, t := range targets {
		least = max(least, slices.Index(classes, t.info.Kernels))
	}
	for _, t := range targets {
		rank := slices.Index(classes, t.info.Kernels)
		if rank < 0 || rank < least && !t.isCPU() {
			return requested
		}
	}
	if len(targets) == 0 {
		return requested
	}
	return classes[least]
}
