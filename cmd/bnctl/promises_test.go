package main

import (
	goflag "flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

var keep = goflag.Bool("keep", false, "write testdata/flags.txt, after a change that the changelog names")

// TestFlagsStay: the commands, flags, short names and defaults that were promised exist (docs/promises.md).
// The command go test ./cmd/bnctl -run FlagsStay -keep adds new ones to the promise for the next release.
func TestFlagsStay(t *testing.T) {
	const file = "testdata/flags.txt"
	is := flagLines("bnctl", globalFlags(), commands())
	if *keep {
		if err := os.WriteFile(file, []byte(strings.Join(is, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	promised := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(promised) < 200 {
		t.Errorf("only %d lines are promised", len(promised))
	}
	for _, line := range promised {
		if !slices.Contains(is, line) {
			t.Errorf("%q was promised, and is gone or has another default", line)
		}
	}
}

// flagLines returns a line for a command and for each of its flags.
func flagLines(name string, flags []cli.Flag, list []*cli.Command) []string {
	lines := []string{name}
	for _, f := range flags {
		value := ""
		if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() {
			value = strings.TrimRight(" = "+d.GetDefaultText(), " ")
		}
		lines = append(lines, name+" --"+strings.Join(f.Names(), ", ")+value)
	}
	for _, c := range list {
		lines = append(lines, flagLines(name+" "+c.Name, c.Flags, c.Subcommands)...)
	}
	return lines
}
