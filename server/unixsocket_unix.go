//go:build unix

package server

import "syscall"

// ownerOnly makes new files accessible to their owner alone, until restore is called.
func ownerOnly() (restore func()) {
	was := syscall.Umask(0o177)
	return func() { syscall.Umask(was) }
}
