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

// familyKey names the variable by which a plugin process and all that it has
// started are known, whatever process group they have gone to. A process that
// clears its environment is not found.
const familyKey = "BNCTL_PLUGIN_FAMILY"

// newFamily returns a variable that no other plugin has.
func newFamily() string { return familyKey + "=" + rand.Text() }

// endFamily kills what a plugin that has ended has left.
func endFamily(variable string) {
	const rounds = 20 // a process that is killed may just have started another
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
		p, err := os.FindProcess(pid) // from here on it is that process or none
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
