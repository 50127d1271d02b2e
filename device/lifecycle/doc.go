// Package lifecycle implements the rules of package device that are the same on all devices. The
// author of a device writes a Backend, which loads programs, and the code that runs them. This
// package serialises calls and ends them when the device is closed, checks arguments, counts
// versions, makes a commit idempotent, and adds the device and the call to errors.
//
// Use it to write a device in Go; New makes a device of a Backend, and Provider a plugin of it.
//
// # What an author writes
//
//	Backend        Load           compiles a program, or lists the nodes that it cannot run
//	Func           Run            computes a function, from tensors in the memory of the host
//
// A device with separate memory implements Runner instead of Func: Run and Commit compute, and
// Needs, Grow, Read, Write and Close manage memory. NewHostRunner returns a Runner for a Func.
//
// # The states of an executable
//
// Between two calls an executable is at some version. It keeps either nothing or the values that
// the last training run left for a commit of that version:
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
// Run of another function, Read, Write and Grow do not change the state. Any other Commit is Invalid.
package lifecycle
