//go:build !unix

package server

// ownerOnly does nothing: this system has no modes of files.
func ownerOnly() (restore func()) { return func() {} }
