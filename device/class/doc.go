// Package class is the contract of kernel classes: what decides the bits of a
// result, and nothing that only decides how fast it comes.
//
// Use it to write a device that claims a class, and to learn how a layer is
// computed. The definitions here are what package devicetest compares such a
// device with.
//
// A class is a promise of a device about bits. Two devices of one class give the
// same bits for the same program at the same precision, whatever hardware they
// are, and however the work is cut. Which algorithm computes a product with a
// weight is part of that: see Choose.
package class

// The classes. A device has one; Info names it.
const (
	// Generic rounds every product and every sum.
	Generic = "generic"
	// FMA has chains of fused multiply-adds, in an order that is a function of the layer.
	FMA = "fma"
	// AMX is FMA, and matrix units of AMX where they pay.
	AMX = "amx"
)

// Known reports whether a name is that of a class.
func Known(name string) bool { return name == Generic || name == FMA || name == AMX }
