// Package bitwise compares a device with the CPU device in kernel class "fma", by
// bits: programs of a few nodes over awkward shapes and values, and whole models.
// NaN equals NaN, the sign of zero counts. It is for the tests of the devices that
// package gpu makes.
//
// Use it to hold a Driver of your own to the bits of class "fma".
package bitwise
