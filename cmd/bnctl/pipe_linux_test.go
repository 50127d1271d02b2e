package main

import (
	"os"
	"syscall"
)

// narrow makes the pipe f as small as possible, so that the writer of lines cannot get far ahead of the
// reader.
func narrow(f *os.File) error {
	const setPipeSize = 1031 // F_SETPIPE_SZ
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setPipeSize, uintptr(os.Getpagesize()))
	if errno != 0 {
		return errno
	}
	return nil
}
