package remote

import (
	"os"
	"os/exec"
	"syscall"
)

const terminate = syscall.SIGTERM

// isolate gives the process a group of its own, so that a Ctrl-C in the
// terminal is the host's alone, has the kernel kill it when the host dies, and
// makes it run the file that was opened, whatever lies at its path by now. The
// file is the first that it inherits.
func isolate(c *exec.Cmd, b *binary) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c.ExtraFiles = append([]*os.File{b.file}, c.ExtraFiles...)
	c.Path = "/proc/self/fd/3"
}

// segmentFile and bellFile are the descriptors at which a plugin inherits the
// memory of its session and the end of a pipe that wakes this process.
const (
	segmentFile = 4
	bellFile    = 5
)

// signalAll signals a process and all that it has started, as far as they are still in its group.
func signalAll(p *os.Process, s os.Signal) {
	_ = syscall.Kill(-p.Pid, s.(syscall.Signal))
}

// killed reports whether a process that has ended was ended by SIGKILL, as the system does for want of
// memory.
func killed(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGKILL
}

// endedBySignal reports whether a process that has ended was ended by a signal.
func endedBySignal(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled()
}
