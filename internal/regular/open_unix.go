//go:build unix

package regular

import "syscall"

// nonBlocking keeps opening a pipe from waiting for who writes it.
const nonBlocking = syscall.O_NONBLOCK
