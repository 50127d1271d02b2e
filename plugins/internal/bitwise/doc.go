// Package bitwise compares the bits of a device with those of the CPU device in
// kernel class "fma": programs of a few nodes over awkward shapes and values, and
// whole models. NaN equals NaN, but zeros of different signs differ. It is for
// tests of devices of package gpu.
//
// Use it to test that a device with your Driver has the bits of class "fma".
package bitwise
