// Package conformance tests a device plugin, as the command bnctl plugin test
// does: it starts the plugin and runs the cases of package devicetest on its
// device over the wire, at each level (transport) and each precision that the
// device has.
//
// Use it to test a plugin from a program. To test a device in the same process,
// use package devicetest in a Go test.
//
// A device may refuse an operation as the contract allows. This is not a fault,
// except for the operations that training of a small network needs.
package conformance
