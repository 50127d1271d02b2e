package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// binary is the test binary of one package, with the mutants of p.
type binary struct{ dir, path string }

// run runs tests with a mutant, or without one if mutant is -1, in at most 8 GB, and returns the processor
// time that they used. It ends tests that have used so much more than the usual time that they would not end
// by themselves, and tests that have been idle for too long. The error is a *failure.
func (b binary) run(mutant int, note string, usual time.Duration, names ...string) (time.Duration, error) {
	limits := fmt.Sprintf(`ulimit -v 8000000; ulimit -t %d; exec "$0" "$@"`, 5+int(10*usual.Seconds()))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", limits, b.path,
		"-test.short", "-test.failfast", "-test.run", "^("+strings.Join(names, "|")+")$")
	var out bytes.Buffer
	c.Dir, c.Stdout, c.WaitDelay = b.dir, &out, time.Second
	c.Env = append(os.Environ(), chosen+"="+strconv.Itoa(mutant+1), reached+"="+note, "GOMAXPROCS=1",
		"TMPDIR="+filepath.Dir(b.path))
	if err := c.Start(); err != nil {
		return 0, err
	}
	go endIdle(ctx, cancel, c.Process.Pid, 10*time.Second+10*usual)
	err := errors.Join(c.Wait(), ctx.Err())
	took := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if err == nil {
		return took, nil
	}
	named := failed.FindSubmatch(out.Bytes())
	if named == nil {
		return took, &failure{err, names[0]}
	}
	return took, &failure{err, string(named[1])}
}

// failure reports that a test fails or does not end.
type failure struct {
	error
	test string // the first test that fails
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// endIdle ends a process that has been idle for the time patience, checked every second. A
// process that waits for a processor is not idle: on a busy machine nothing else
// distinguishes a slow test from one that does not end.
func endIdle(ctx context.Context, end context.CancelFunc, pid int, patience time.Duration) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for last, idle := int64(0), time.Duration(0); idle < patience; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := scheduled(pid)
		if now-last < int64(10*time.Millisecond) && now >= last {
			idle += time.Second
		}
		last = now
	}
	end()
}

// scheduled returns for how many nanoseconds the threads of a process ran or could have run (Linux;
// 0 elsewhere).
func scheduled(pid int) (sum int64) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range files {
		b, _ := os.ReadFile(name)
		var ran, waited int64
		fmt.Sscan(string(b), &ran, &waited)
		sum += ran + waited
	}
	return sum
}
