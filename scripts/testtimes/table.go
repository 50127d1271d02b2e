package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kinds of records.
const (
	ofLine     = "line"
	ofPackage  = "package"
	ofFunction = "function"
)

// record is the processor time of a command line, a package or a test function.
type record struct {
	kind, name, function string
	used                 time.Duration
}

// add appends r to a file as one line.
func (r record) add(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	line := strings.Join(strings.Fields(r.name), " ")
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\t%d\n", r.kind, line, r.function, r.used.Milliseconds())
	return err
}

// records reads the records in the file of a run.
func records(path string) (list []record, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(c) != 4 {
			return nil, fmt.Errorf("%s: %q has %d columns, want 4", path, line, len(c))
		}
		ms, err := strconv.Atoi(c[3])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, record{c[0], c[1], c[2], time.Duration(ms) * time.Millisecond})
	}
	return list, nil
}

// show prints the records of a file. Each command line is followed by its packages and functions, those with
// the most processor time first.
func show(path string, top int, minimum float64) int {
	all, err := records(path)
	if err != nil {
		return failed(err)
	}
	fmt.Println("seconds of processor time (user and system, with child processes)")
	var inside []record
	for _, r := range all {
		if r.kind != ofLine {
			inside = append(inside, r)
			continue
		}
		showLine(r, inside, top, minimum)
		inside = nil
	}
	if len(inside) > 0 { // the last command line has not finished
		showLine(record{name: "(not finished)"}, inside, top, minimum)
	}
	return 0
}

// showLine prints a command line with the packages that it tested.
func showLine(line record, tested []record, top int, minimum float64) {
	name := line.name
	if len(name) > 90 {
		name = name[:87] + "..."
	}
	fmt.Printf("\n%8.1f  %s\n", line.used.Seconds(), name)
	rest, packages := line.used, ofKind(tested, ofPackage)
	for _, p := range packages {
		rest -= p.used
		if p.used.Seconds() < minimum {
			continue
		}
		fmt.Printf("%10.1f  %s\n", p.used.Seconds(), p.name)
		printed := 0
		for _, f := range ofKind(tested, ofFunction) {
			if f.name == p.name && f.used.Seconds() >= minimum && printed < top {
				fmt.Printf("%14.1f  %s\n", f.used.Seconds(), f.function)
				printed++
			}
		}
	}
	if len(packages) > 0 {
		fmt.Printf("%10.1f  compiling, linking and vetting\n", rest.Seconds())
	}
}

// ofKind returns the records of a kind, sorted by processor time, the most first.
func ofKind(list []record, kind string) (chosen []record) {
	for _, r := range list {
		if r.kind == kind {
			chosen = append(chosen, r)
		}
	}
	slices.SortStableFunc(chosen, func(a, b record) int { return cmp.Compare(b.used, a.used) })
	return chosen
}
