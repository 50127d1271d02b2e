package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// binary runs a test binary, and records the processor time of the whole package and of each test function.
// If functions run in parallel, their time is divided among them arbitrarily.
func binary(path string, command []string) int {
	isTest := strings.HasSuffix(command[0], ".test")
	if isTest { // otherwise it is a program that go run has started
		command = append([]string{command[0], "-test.v=true"}, command[1:]...)
	}
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stderr, c.Env = os.Stdin, os.Stderr, unobserved()
	out, err := c.StdoutPipe()
	if err != nil {
		return failed(err)
	}
	if err := c.Start(); err != nil {
		return failed(err)
	}
	pass(c.Process)
	functions(path, packageName(), c.Process.Pid, out)
	c.Wait()
	if !isTest {
		return c.ProcessState.ExitCode()
	}
	if err := (record{kind: ofPackage, name: packageName(), used: used(c.ProcessState)}).add(path); err != nil {
		return failed(err)
	}
	if code := c.ProcessState.ExitCode(); code >= 0 {
		return code
	}
	return 1
}

// unobserved returns the environment without the settings that make this program run the test binaries.
func unobserved() []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, file+"=") || strings.HasPrefix(s, "GOFLAGS=")
	})
	flags, _, _ := strings.Cut(os.Getenv("GOFLAGS"), "-exec=")
	return append(env, "GOFLAGS="+strings.TrimSpace(flags))
}

// pass forwards signals to p, because go test ends a binary by a signal.
func pass(p *os.Process) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM)
	go func() {
		for s := range signals {
			p.Signal(s)
		}
	}()
}

// functions copies the output of a test binary, and records each test function when it has ended.
func functions(path, pkg string, pid int, out io.Reader) {
	lines := bufio.NewReader(out)
	last := time.Duration(0)
	for {
		line, err := lines.ReadString('\n')
		fmt.Print(line)
		if name, ok := ended(line); ok {
			now := spent(pid)
			(record{kind: ofFunction, name: pkg, function: name, used: now - last}).add(path)
			last = now
		}
		if err != nil {
			return
		}
	}
}

// ended returns the name of the test function if a line of the output states that it has ended.
func ended(line string) (string, bool) {
	for _, result := range []string{"--- PASS: ", "--- FAIL: ", "--- SKIP: "} {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "\x16"), result); ok {
			name, _, _ := strings.Cut(rest, " ")
			return name, true
		}
	}
	return "", false
}

// packageName returns the folder of the package relative to the module. go test runs a test in this folder.
func packageName() string {
	dir, err := os.Getwd()
	if err != nil {
		return "?"
	}
	root := dir
	for {
		if _, err := os.Stat(root + "/go.mod"); err == nil || !strings.Contains(root, "/") {
			return strings.TrimPrefix(strings.TrimPrefix(dir, root), "/")
		}
		root = root[:strings.LastIndex(root, "/")]
	}
}

// used returns the processor time of a process that has ended, including the child processes that it waited
// for.
func used(p *os.ProcessState) time.Duration { return p.UserTime() + p.SystemTime() }

// spent returns the processor time so far of a running process, including the child processes that it waited
// for.
func spent(pid int) (sum time.Duration) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(b), ") ") // the program's name may contain spaces
	const tick = time.Second / 100
	for i, field := range strings.Fields(rest) {
		if 11 <= i && i <= 14 { // utime, stime, cutime, cstime (proc(5))
			ticks := 0
			fmt.Sscan(field, &ticks)
			sum += time.Duration(ticks) * tick
		}
	}
	return sum
}
