//go:build !unix

package server

// ownerOnly does nothing, because this system has no file modes.
func ownerOnly() (restore func()) { return func() {} }
