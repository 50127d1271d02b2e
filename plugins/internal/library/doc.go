// Package library opens shared libraries at run time, with dlopen and without cgo. A missing library is
// an ordinary error, which names it.
package library
