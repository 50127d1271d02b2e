//go:build !linux

package remote

import (
	"os"
	"os/exec"
)

var terminate = os.Interrupt

// isolate leaves everything as it is: a plugin notices the end of the host by
// the end of its standard input.
func isolate(*exec.Cmd, *binary) {}

// segmentFile and bellFile are unused: this system has no shared memory of this kind.
const (
	segmentFile = 3
	bellFile    = 4
)

// signalAll signals a process.
func signalAll(p *os.Process, s os.Signal) { _ = p.Signal(s) }

// killed is not known here.
func killed(*os.ProcessState) bool { return false }

// endedBySignal is not known here.
func endedBySignal(*os.ProcessState) bool { return false }
