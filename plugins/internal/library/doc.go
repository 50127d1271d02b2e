// Package library opens shared libraries when they are used, with dlopen and
// without cgo: a machine without them is an ordinary case, and the error says
// which one is missing.
package library
