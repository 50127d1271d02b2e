// Package conformance judges a device plugin as bnctl plugin test does: it
// starts the program and runs the cases of package devicetest on its device over
// the wire, at each level and each precision that the device has.
//
// Use it to accept or refuse a plugin from a program; the command is bnctl
// plugin test.
//
// An operation that a device refuses properly is no fault, but what training a
// small network needs must be there. Whoever tests a device in process uses
// package devicetest in a test of their own.
package conformance
