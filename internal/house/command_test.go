package house

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The command line is flags, help, wording, tables, progress and exit codes.
const (
	mostCommandLines   = 5000 // lines of cmd/bnctl, without tests
	mostCommandImports = 3    // imports of our packages in one file of cmd/bnctl
)

// TestCommandIsACommandLine checks that the computing code, which was moved out of
// cmd/bnctl, stays out. The files that know the flag library are the flag layer: help,
// flags, and the conversion of flags to options. They print no results, and files that
// print results know no flags.
func TestCommandIsACommandLine(t *testing.T) {
	const folder, ours = "cmd/bnctl", `"github.com/bnctl/bnctl/`
	prints := regexp.MustCompile(`\.(result|event)\(`)
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files: ", err)
	}
	lines := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		imports, flags := 0, false
		for _, spec := range f.Imports {
			if strings.HasPrefix(spec.Path.Value, ours) {
				imports++
			}
			flags = flags || spec.Path.Value == `"github.com/urfave/cli/v2"`
		}
		if imports > mostCommandImports {
			t.Errorf("%s imports %d of our packages, want at most %d", name, imports, mostCommandImports)
		}
		if flags && prints.Match(text) {
			t.Errorf("%s knows flags and prints results; print them in a file that is given values", name)
		}
	}
	if lines > mostCommandLines {
		t.Errorf("%s has %d lines, want at most %d: what is no command line goes into a package", folder, lines,
			mostCommandLines)
	}
}
