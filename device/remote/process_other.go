//go:build !linux

package remote

import (
	"os"
	"os/exec"
)

var terminate = os.Interrupt

// isolate does nothing: a plugin notices the end of the host by the end of its standard
// input.
func isolate(*exec.Cmd, *binary) {}

// segmentFile and bellFile are unused: this system has no shared memory of this kind.
const (
	segmentFile = 3
	bellFile    = 4
)

// signalAll signals a process.
func signalAll(p *os.Process, s os.Signal) { _ = p.Signal(s) }

// killed returns false: the signal is unknown on this system.
func killed(*os.ProcessState) bool { return false }

// endedBySignal returns false: signals are unknown on this system.
func endedBySignal(*os.ProcessState) bool { return false }
