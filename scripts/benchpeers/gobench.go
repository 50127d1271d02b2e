package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// inputRows measure reading and augmenting samples on one core.
func inputRows() []row {
	loader := func(name string) func(*bench) (float64, error) {
		return func(b *bench) (float64, error) { return b.goBench("./data", name, "images/s", "-cpu", "1") }
	}
	return []row{
		{group: "input", name: "JPEG of 32x32 with CIFAR-10's augmentation, decoding, one core", threads: 1,
			unit: "img/s", note: "must 10,000", bnctl: side{"bnctl", loader("^BenchmarkLoader$/^jpeg$")}},
		{group: "input", name: "the same once decoded", threads: 1, unit: "img/s", note: "must 60,000",
			bnctl: side{"bnctl", loader("^BenchmarkLoader$/^decoded$")}},
	}
}

// goBench runs one Go benchmark of a package, and returns the figure that has the given unit. flags are
// additional flags of go test.
func (b *bench) goBench(pkg, name, unit string, flags ...string) (float64, error) {
	return b.goBenchWith(nil, pkg, name, unit, flags...)
}

// goBenchWith does the same as goBench, with additional environment variables.
func (b *bench) goBenchWith(env []string, pkg, name, unit string, flags ...string) (float64, error) {
	args := append([]string{"test", "-run", "^$", "-bench", name, "-benchtime", fmt.Sprintf("%gs", b.seconds)},
		flags...)
	cmd := exec.CommandContext(b.ctx, "go", append(args, pkg)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w: %s", cmd.Args, err, out)
	}
	for line := range bytes.Lines(out) {
		fields := strings.Fields(string(line))
		for i, f := range fields {
			if f == unit && strings.HasPrefix(fields[0], "Benchmark") {
				return strconv.ParseFloat(fields[i-1], 64)
			}
		}
	}
	return 0, fmt.Errorf("%v: no figure in %s: %s", cmd.Args, unit, out)
}
