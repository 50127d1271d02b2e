// Package library opens shared libraries on use, with dlopen and without cgo: a machine
// without them is an ordinary case, and the error names the missing one.
package library
