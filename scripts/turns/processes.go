//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// kinds are the kinds of processes that a run of bnctl has.
var kinds = []string{"device", "bnctl", "fabric"}

// times has the processor time in seconds that processes have used, by kind of process. In a job of several
// ranks it is the mean over the processes of a kind.
type times map[string]float64

// plus returns t plus the time that was used between two moments.
func (t times) plus(start, end times) times {
	sum := times{}
	for _, k := range kinds {
		sum[k] = t[k] + end[k] - start[k]
	}
	return sum
}

// tree returns a process and its descendants.
func tree(pid int) []int {
	all := []int{pid}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range tasks {
		b, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, tree(child)...)
			}
		}
	}
	return all
}

// times returns the time that the processes of the job have used so far.
func (j *job) times() times {
	sum, n := times{}, map[string]float64{}
	for _, pid := range tree(j.command.Process.Pid) {
		k := kind(pid)
		n[k]++
		sum[k] += ran(pid)
	}
	for k := range sum {
		sum[k] /= n[k]
	}
	return sum
}

// kind returns the kind of a process.
func kind(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	switch words := strings.Split(string(b), "\x00"); {
	case strings.HasPrefix(filepath.Base(program), "bnctl-fabric"):
		return "fabric"
	case len(words) > 1 && words[1] == "serve-device":
		return "device"
	case len(words) > 1 && words[1] == "train":
		return "bnctl"
	}
	return ""
}

// ran returns the processor time of the threads of a process, in seconds.
func ran(pid int) (sum float64) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range tasks {
		b, _ := os.ReadFile(name)
		ns, _, _ := strings.Cut(string(b), " ")
		n, _ := strconv.ParseFloat(ns, 64)
		sum += n / 1e9
	}
	return sum
}
