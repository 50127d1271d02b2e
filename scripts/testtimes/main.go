// Testtimes prints how much processor time each command of a make target uses. For a go test it also prints
// the time of each package and each test function. On a busy machine processor time hardly changes, while the
// duration does.
//
//	go build -o bin/testtimes ./scripts/testtimes
//	bin/testtimes [-top N] [-keep FILE] make test check
//
// The program runs make, and is itself the shell that make uses. Through GOFLAGS=-exec it also runs every
// test binary. Cached test results are not used. It works on Linux only.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// file is the environment variable that names the file where all processes collect their records.
const file = "BNCTL_TEST_TIMES"

func main() {
	into := os.Getenv(file)
	switch {
	case into == "":
		os.Exit(outer())
	case len(os.Args) == 3 && os.Args[1] == "-c":
		os.Exit(shell(into, os.Args[2]))
	default:
		os.Exit(binary(into, os.Args[1:]))
	}
}

// outer runs make with this program as its shell, and prints the table.
func outer() int {
	top := flag.Int("top", 5, "print up to `N` test functions of each package")
	least := flag.Float64("least", 2, "leave out test functions with less than so many `seconds`")
	keep := flag.String("keep", "", "keep the records in `FILE`; without a command, print those of FILE")
	flag.Parse()
	if flag.NArg() == 0 && *keep != "" {
		return show(*keep, *top, *least)
	}
	if flag.NArg() == 0 {
		flag.Usage()
		return 2
	}
	path := *keep
	if path == "" {
		dir, err := os.MkdirTemp("", "testtimes")
		if err != nil {
			return failed(err)
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "records")
	}
	code, err := observe(path, flag.Args())
	if err != nil {
		return failed(err)
	}
	return max(code, show(path, *top, *least))
}

// observe runs a command of make and returns its exit code. The shells and test binaries of the command
// append their records to a file.
func observe(path string, command []string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return 0, err
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		return 0, err
	}
	c := exec.Command(command[0], append(command[1:], "SHELL="+self)...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -exec=" + self + " -count=1")
	c.Env = append(os.Environ(), file+"="+path, "GOFLAGS="+flags)
	if err := c.Run(); c.ProcessState == nil {
		return 0, err
	}
	return c.ProcessState.ExitCode(), nil
}

// shell runs a command line of a make recipe, and records its processor time.
func shell(path, line string) int {
	c := exec.Command("/bin/sh", "-c", line)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); c.ProcessState == nil {
		return failed(err)
	}
	if err := (record{kind: ofLine, name: line, used: used(c.ProcessState)}).add(path); err != nil {
		return failed(err)
	}
	return c.ProcessState.ExitCode()
}

// failed prints an error and returns the exit code for it.
func failed(err error) int {
	fmt.Fprintln(os.Stderr, "testtimes:", err)
	return 1
}
