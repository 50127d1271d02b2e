package spec

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// classesOf returns the numbered classes with vectors here that a device has.
func classesOf(info device.Info) []string {
	var all []string
	if info.Kernels == class.FMA {
		all = append(all, "fma/1")
	}
	if slices.Contains(info.Ops, graph.ConvInt8) {
		all = append(all, "int8/1")
	}
	return all
}

// ofClasses returns the vectors of some classes.
func ofClasses(all []*Vector, classes []string) []*Vector {
	return slices.DeleteFunc(slices.Clone(all), func(v *Vector) bool {
		return !slices.Contains(classes,
			v.Class)
	})
}
