// Package node_test runs the conformance tests on the example plugin, like the command bnctl plugin test.
package node_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
)

// TestConformance runs all conformance cases. The plugin must pass the cases of the operations that it
// implements, and refuse other operations.
func TestConformance(t *testing.T) {
	if out, err := exec.Command("node", "--version").CombinedOutput(); err != nil {
		t.Skipf("Node.js is not installed (Debian: nodejs): %v %s", err, out)
	}
	o := conformance.Options{}
	if testing.Short() {
		o.Case = "exchange"
	}
	faults, err := conformance.Plugin(t.Context(), remote.Command{Name: "node", Path: "./bnctl-device-node"}, o,
		func(_ string, r devicetest.Result) {
			if r.Err != nil {
				t.Errorf("%s: %v\nrule: %s", r.Case.Name, r.Err, r.Rule())
			}
		}, func(j conformance.Judgement) { t.Log(j.Lines()) })
	if err != nil || faults > 0 {
		t.Errorf("%d faults, %v", faults, err)
	}
}

// TestSize checks that the example has the size that its README and docs/plugins.md state: at most 600 lines
// of code of at most 110 characters. Blank lines and comments are not counted.
func TestSize(t *testing.T) {
	files, err := filepath.Glob("lib/*")
	if err != nil {
		t.Fatal(err)
	}
	lines, code := 0, 0
	for _, name := range append(files, "bnctl-device-node") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			lines++
			if len([]rune(strings.TrimRight(line, "\n"))) > 110 {
				t.Errorf("%s: longer than 110 characters: %s", name, line)
			}
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				code++
			}
		}
	}
	t.Logf("%d files, %d lines, %d of code", len(files)+1, lines, code)
	if len(files) == 0 || code > 600 {
		t.Errorf("%d files with %d lines of code, want at most 600", len(files)+1, code)
	}
}
