package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// reasons reads the file with the reasons why mutants survive. It returns the reasons by the keys of the
// mutants. A line is either "= REASON", which holds for the keys in the lines below it, or a key. Lines that
// are empty, or begin with #, are ignored.
func reasons(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, reason, lines := map[string]string{}, "", bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "= "):
			reason = line[2:]
		case reason == "":
			return nil, fmt.Errorf("%s: no reason stands above %q", path, line)
		default:
			found[line] = reason
		}
	}
	return found, lines.Err()
}

// survivors reads the keys of mutants from the second column of the output of an earlier run.
func survivors(path string) (map[string]bool, error) {
	b, err := os.ReadFile(path)
	keys := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if columns := strings.Split(line, "\t"); len(columns) == 3 {
			keys[columns[1]] = true
		}
	}
	return keys, err
}
