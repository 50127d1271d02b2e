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

// binary is the test binary of one package. It contains the mutants of the package under test.
type binary struct{ dir, path string }

// run runs tests with a mutant, or without one if mutant is -1, in at most 8 GB of memory. It returns the
// processor time that they used. usual is the time that they normally use. run ends tests that have used so
// much more than usual that they will not end by themselves, and tests that have been idle for too long. The
// error is a *failure.
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

// failure is the error for a test that fails or does not end.
type failure struct {
	error
	test string // the first test that fails
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// endIdle ends a process that has been idle for the time patience. It checks the process every second. A
// process that waits for a processor is not idle. On a busy machine only this distinguishes a slow test from
// a test that does not end.
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

// scheduled returns the time in nanoseconds that the threads of a process ran, or were ready to run. It
// is 0 on systems other than Linux.
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
