package remote

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// familyKey is the variable that identifies a plugin process and all processes that it has
// started, whatever their process groups. A process that clears its environment is not
// found.
const familyKey = "BNCTL_PLUGIN_FAMILY"

// newFamily returns a variable that identifies one plugin.
func newFamily() string { return familyKey + "=" + rand.Text() }

// endFamily kills the processes that remain after a plugin has ended.
func endFamily(variable string) {
	const rounds = 20 // a process may have started another one just before it was killed
	for i := range rounds {
		if !killFamily(variable) {
			return
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
	}
}

// killFamily kills every process with that variable in its environment, and
// reports whether there was one.
func killFamily(variable string) (found bool) {
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		p, err := os.FindProcess(pid) // a handle: never refers to a later process with this number
		if err != nil {
			continue
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && bytes.Contains(append([]byte{0}, b...), []byte("\x00"+variable+"\x00")) {
			found = p.Kill() == nil || found
		}
		_ = p.Release()
	}
	return found
}
