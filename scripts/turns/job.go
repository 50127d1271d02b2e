//go:build linux

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// job is a run of bnctl that is measured.
type job struct {
	command *exec.Cmd
	events  chan time.Time // end time of each step; closed at the end of the job

	steps   []float64 // milliseconds
	medians []float64 // median step time of each turn
	took    times     // processor time of the measured steps, by kind of process
}

// start starts a command as a job.
func start(words []string) (*job, error) {
	j := &job{command: exec.Command(words[0], words[1:]...), events: make(chan time.Time, 1000), took: times{}}
	j.command.Stderr = os.Stderr
	out, err := j.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := j.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(j.events)
		for s := bufio.NewScanner(out); s.Scan(); {
			if strings.HasPrefix(s.Text(), `{"event":"step"`) {
				j.events <- time.Now()
			}
		}
	}()
	return j, nil
}

// turn continues the job until it has ended one step, which is not measured, and then the given number of
// steps, which are measured.
func (j *job) turn(steps int) error {
	j.signal(syscall.SIGCONT)
	defer j.signal(syscall.SIGSTOP)
	for len(j.events) > 0 { // drop events from before the job was stopped
		<-j.events
	}
	var turn []float64
	began, ok := <-j.events
	before := j.times()
	for last := began; ok && len(turn) < steps; {
		var t time.Time
		if t, ok = <-j.events; ok {
			turn = append(turn, float64(t.Sub(last).Microseconds())/1e3)
			last = t
		}
	}
	if !ok {
		return errors.New("it has ended before its turns")
	}
	j.steps, j.medians = append(j.steps, turn...), append(j.medians, median(turn))
	j.took = j.took.plus(before, j.times())
	return nil
}

// signal sends a signal to all processes of the job except its launcher, which only waits.
func (j *job) signal(s syscall.Signal) {
	for _, p := range tree(j.command.Process.Pid) {
		if kind(p) != "" {
			_ = syscall.Kill(p, s) // the process may have ended
		}
	}
}

// end ends the job, and waits for it.
func (j *job) end() {
	all := tree(j.command.Process.Pid)
	for _, p := range all {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
	_ = j.command.Wait()
}
