// Package device is the contract between bnctl and the devices that compute.
//
// Use it to write a device. In Go, package device/lifecycle implements most of the contract,
// so that the author only has to load programs and run them. Package fleet opens the devices
// of a machine, and package parallel runs training and prediction on them.
//
// A Device loads programs (package graph) and runs their functions. It is either in
// process (device/ref), or a plugin process reached through device/remote. Callers treat
// both alike: the capabilities of a device are data in its Info.
//
// # Replicas and rows
//
// A device executes the logical replicas that its Group assigns to it. Rows inputs
// of a step are the real rows of these replicas, concatenated in replica
// order; Step.Rows gives the number of rows of each. Zero rows on a replica and
// zero replicas on a device are legal everywhere. The results of a replica
// depend neither on the other replicas of the device nor on their number.
//
// # A step is a transaction
//
// Run reads the state of one version and makes no visible change;
// Commit makes the next version. Read, Write and Run see committed state
// only. A run that failed can be repeated, here or elsewhere, with the same
// inputs and the same bits.
//
// Package device/devicetest has a check for every rule of this package.
package device
