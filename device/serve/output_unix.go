//go:build unix

package serve

import "golang.org/x/sys/unix"

// outputToError makes file descriptor 1 a copy of 2. An error leaves things as
// they are, which is no worse than before.
func outputToError() { _ = unix.Dup2(2, 1) }
