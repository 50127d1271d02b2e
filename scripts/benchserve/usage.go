package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage has the processor times of the processes of a measurement, up to a moment.
type usage struct {
	time                time.Time
	device, front, load time.Duration
	waited              time.Duration // how long the devices waited for a core that other processes used
	stolen, unused      time.Duration // over all cores: time of other machines on the host, and idle time
}

// use returns the usage so far by the devices and the front of s, and by this process, which makes the load.
func (s *server) use() usage {
	all := family(s.cmd.Process.Pid)
	u := usage{time: time.Now()}
	u.front, _ = computed(all[0])
	u.load, _ = computed(os.Getpid())
	u.stolen, u.unused = machine()
	for _, p := range all[1:] {
		device, waited := computed(p)
		u.device, u.waited = u.device+device, u.waited+waited
	}
	return u
}

// since describes the share of a core that each process has used since the usage before.
func (u usage) since(earlier usage) string {
	perRequest := func(now, was time.Duration) float64 {
		return 100 * (now - was).Seconds() / u.time.Sub(earlier.time).Seconds()
	}
	return fmt.Sprintf("device %.0f %% of a core and %.0f waiting for it, front %.0f, load %.0f, others %.1f",
		perRequest(u.device, earlier.device), perRequest(u.waited, earlier.waited), perRequest(u.front,
			earlier.front),
		perRequest(u.load, earlier.load), perRequest(u.stolen, earlier.stolen))
}

// each describes the processor time of the server and of this process since the usage before, per request.
func (u usage) each(earlier usage, requests int) string {
	perRequest := func(now, was time.Duration) float64 { return us(now-was) / float64(requests) }
	return fmt.Sprintf("front %.0f us, load %.0f us of processor time", perRequest(u.front, earlier.front),
		perRequest(u.load, earlier.load))
}

// of describes the cost of a request since the usage before, the idle time, and the share of the cores' time
// that other machines had.
func (u usage) of(earlier usage, requests int) string {
	return fmt.Sprintf("device %.0f us, %s; nobody had %.2f of a core, other machines %.2f",
		us(u.device-earlier.device)/float64(requests), u.each(earlier, requests),
		(u.unused-earlier.unused).Seconds()/u.time.Sub(earlier.time).Seconds(),
		(u.stolen-earlier.stolen).Seconds()/u.time.Sub(earlier.time).Seconds())
}

// machine returns two times since the start of the system, summed over all cores: the time that other
// machines on the host used a core that this machine wanted, and the idle time.
func machine() (stolen, unused time.Duration) {
	text, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)
	if len(fields) < 9 {
		return 0, 0
	}
	ticks := func(i int) time.Duration {
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		return time.Duration(n) * 10 * time.Millisecond // proc(5): hundredths of a second
	}
	return ticks(8), ticks(4) + ticks(5)
}

// computed returns the time that the threads of a process ran on a core, and the time that they
// waited for one.
func computed(process int) (running, waited time.Duration) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", process))
	for _, path := range tasks {
		text, _ := os.ReadFile(path)
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			ns, _ := strconv.ParseInt(fields[0], 10, 64)
			wait, _ := strconv.ParseInt(fields[1], 10, 64)
			running, waited = running+time.Duration(ns), waited+time.Duration(wait)
		}
	}
	return running, waited
}
