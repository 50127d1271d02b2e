// Package class defines kernel classes: everything that determines the bits of a result,
// and nothing that only affects speed. docs/classes.md describes class "fma".
//
// Use it to write a device that claims a class, or to look up how a layer is computed.
// Package devicetest compares devices with these definitions.
//
// A kernel class is a promise of a device about bits. Two devices of one class give the
// same bits for the same program at the same precision, on any hardware and for any
// division of the work. The algorithm of each product with a weight is part of the class:
// see Choose. A chain is a sum that adds its terms one after the other, in a stated order.
// The tree is the canonical tree of package collective.
package class

// The classes. A device has one class: device.Info.Kernels.
const (
	// Generic rounds every product and every sum.
	Generic = "generic"
	// FMA adds products in chains of fused multiply-adds, in an order that depends on the
	// layer.
	FMA = "fma"
	// AMX is FMA, except for layers that AMX matrix units compute.
	AMX = "amx"
	// Ref has the bits of package device/ref, at every precision: plain loops in the order of
	// the op table, in float64, rounded where a value is stored.
	Ref = "ref"
)

// Known reports whether Choose can select algorithms for the class name.
func Known(name string) bool { return name == Generic || name == FMA || name == AMX }
