package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is how long the threads of processes have computed.
type usage struct {
	when                time.Time
	device, front, load time.Duration
}

// use returns what the devices and the front of s have used so far, and this process.
func (s *server) use() usage {
	all := family(s.cmd.Process.Pid)
	u := usage{when: time.Now(), front: computed(all[0]), load: computed(os.Getpid())}
	for _, p := range all[1:] {
		u.device += computed(p)
	}
	return u
}

// since says what part of a core each has used since before.
func (u usage) since(before usage) string {
	part := func(now, was time.Duration) float64 {
		return 100 * (now - was).Seconds() / u.when.Sub(before.when).Seconds()
	}
	return fmt.Sprintf("device %.0f %%, front %.0f, load %.0f of a core", part(u.device, before.device),
		part(u.front, before.front), part(u.load, before.load))
}

// computed returns how long the threads of a process have been on a core.
func computed(process int) (sum time.Duration) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", process))
	for _, path := range tasks {
		text, _ := os.ReadFile(path)
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			ns, _ := strconv.ParseInt(fields[0], 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}
