// Package bitwise compares a device with the CPU device in kernel class "fma", by
// bits: programs of a few nodes over awkward shapes and values, and whole models.
// NaN equals NaN, the sign of zero counts. It is for tests of devices of package
// gpu.
//
// Use it to test that a device with a Driver of your own has the bits of class
// "fma".
package bitwise
