package remote

import (
	"os"
	"os/exec"
	"syscall"
)

const terminate = syscall.SIGTERM

// isolate puts the process into a new process group, so that only the host receives a Ctrl-C in the
// terminal. It makes the kernel kill the process when the host dies. The process runs the file that was
// opened, even if another file now has its path. This file is the first one that the process inherits.
func isolate(c *exec.Cmd, b *binary) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c.ExtraFiles = append([]*os.File{b.file}, c.ExtraFiles...)
	c.Path = "/proc/self/fd/3"
}

// segmentFile and bellFile are the descriptors at which a plugin inherits the memory of its
// session and the write end of the pipe that wakes this process.
const (
	segmentFile = 4
	bellFile    = 5
)

// signalAll signals a process and the processes that it has started, as far as they are
// still in its group.
func signalAll(p *os.Process, s os.Signal) {
	_ = syscall.Kill(-p.Pid, s.(syscall.Signal))
}

// killed reports whether a process was ended by SIGKILL, as the system does for lack of
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
