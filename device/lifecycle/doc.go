// Package lifecycle keeps the rules of package device for the author of a device: he writes a
// Backend, which loads programs, and what runs them. Everything that is the same on all devices
// is here: calls follow each other and end with the device, arguments are checked, versions are
// counted, a commit is idempotent, and errors name the device and the call.
//
// Use it to write a device in Go; New makes a device of a Backend, and Provider a plugin of it.
//
// # What an author writes
//
//	Backend        Load           compiles a program, or lists the nodes that it cannot run
//	Func           Run            computes a function, from tensors in the memory of the host
//
// A device with memory of its own implements Runner instead of Func: Run and Commit compute,
// Needs, Grow, Read, Write and Close are about memory. NewHostRunner is the Runner of a Func.
//
// # The states of an executable
//
// Between two calls an executable is at some version, and keeps nothing or what the last training
// run left for a commit of that version:
//
//	                Run train
//	               ┌────────┐
//	               │        v
//	Load ──> version v    version v, kept ──┐
//	               ^        │        ^      │ Run train
//	    fails, or  │        │        └──────┘
//	    not finite └────────┤
//	                        │ Commit(v)
//	                        v
//	                 version v+1, and Commit(v) again does nothing
//
// Run of another function, Read, Write and Grow lead nowhere else. Any other Commit is Invalid.
package lifecycle
