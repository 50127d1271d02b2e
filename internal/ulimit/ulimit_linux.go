package ulimit

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
)

// key is the environment variable of the child of Supervise, and of the child's children.
const key = "BNCTL_SUPERVISED"

// Limits of memory under a limit of address space, in bytes: the space that the Go runtime
// reserves, and the minimum that is left to the heap.
const (
	reserved  = 700 << 20
	leastHeap = 64 << 20
)

// exitFailed is the exit code of a program that ran out of memory.
const exitFailed = 1

// Supervise runs this program as a child if its address space is limited, and returns the exit code.
// ok is false if the caller should continue: there is no limit, or this is the child. A
// program with one of the words as its first argument is not supervised. If the child ran out of
// memory, Supervise writes a line to stderr: text, with the limit in MiB.
func Supervise(stderr io.Writer, text string, words ...string) (code int, ok bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur > math.MaxInt64/2 {
		return 0, false
	}
	limitHeap(int64(limit.Cur))
	if os.Getenv(key) != "" || len(os.Args) > 1 && slices.Contains(words, os.Args[1]) ||
		os.Getenv("PMI_FD") != "" { // the child would not inherit the descriptors of a launcher
		return 0, false
	}
	code, crashed, err := run(stderr)
	if err != nil {
		return 0, false
	}
	if crashed {
		fmt.Fprintf(stderr, text+"\n", limit.Cur>>20)
		code = exitFailed
	}
	return code, true
}

// limitHeap makes Go collect garbage before the address space is used up, unless the user set a limit.
func limitHeap(space int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(leastHeap, (space-reserved)*3/4))
	}
}

// run runs this program again and waits for it. crashed reports whether the Go runtime ended it
// because it ran out of memory; then its dump is not written to stderr.
func run(stderr io.Writer) (code int, crashed bool, err error) {
	runtime.LockOSThread() // the child dies with the thread that started it
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		return 0, false, err
	}
	errors := &filter{w: stderr}
	c := exec.Command(self, os.Args[1:]...)
	c.Args[0] = os.Args[0]
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, errors
	c.Env = append(os.Environ(), key+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM)
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP) // a terminal sends them to the child too
	if err = c.Start(); err != nil {
		return 0, false, err
	}
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				_ = c.Process.Signal(s)
			case <-ended:
				return
			}
		}
	}()
	_ = c.Wait() // ProcessState has the result
	close(ended)
	state := c.ProcessState
	crashed = state.ExitCode() == 2 && errors.ranOutOfMemory()
	if !crashed {
		errors.flush()
	}
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), false, nil
	}
	return state.ExitCode(), crashed, nil
}
