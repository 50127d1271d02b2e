// Package device is the contract between bnctl and the devices that compute.
//
// Use it to write a device: package device/lifecycle keeps most of it for an author in Go, whose
// part is to load programs and to run them. Package fleet opens the devices of a machine, and
// package parallel runs training and prediction on them.
//
// A Device loads programs (package graph) and runs their functions. It is in
// process (device/ref), or a plugin process behind device/remote. Callers treat
// both alike: what a device can do is data in its Info.
//
// # Replicas and rows
//
// A device executes the logical replicas that its Group gives it. Rows inputs
// of a step are the real rows of these replicas, concatenated in replica
// order; Step.Rows says how many belong to each. Zero rows on a replica and
// zero replicas on a device are legal everywhere. What a replica yields
// depends neither on the other replicas of the device nor on their number.
//
// # A step is a transaction
//
// Run reads the state of one version and changes nothing that anybody can
// see; Commit makes the next version. Read, Write and Run see committed state
// only. A run that failed can be repeated, here or elsewhere, with the same
// inputs and the same bits.
//
// A rule of this package without a check in device/devicetest does not exist.
package device
