//go:build unix

package remote_test

import (
	"os/exec"
	"syscall"
)

// ownSession makes a process begin a session, and with it a process group.
func ownSession(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
