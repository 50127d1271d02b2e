package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestReproducePage runs the commands of docs/reproduce.md, the ones of each session in one shell, and
// compares their output with the page. Numbers may differ.
func TestReproducePage(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil && runtime.GOOS == "windows" {
		t.Skip("Windows has no sh of its own, and the sessions need one: ", err)
	}
	page, err := os.ReadFile("../../docs/reproduce.md")
	if err != nil {
		t.Fatal(err)
	}
	u := &tutorial{t: t, folder: t.TempDir()}
	n, code := 0, 0
	for _, block := range fences.FindAllString(string(page), -1) {
		for part := range strings.SplitSeq("\n"+strings.Trim(block, "`\n"), "\n$ ") {
			line, want, _ := strings.Cut(part, "\n")
			if strings.HasPrefix(part, "\n") || line == "" {
				continue
			}
			n++
			if line == "echo $?" {
				if got := strconv.Itoa(code); got != strings.TrimSpace(want) {
					t.Errorf("exit code %s, the page shows %s", got, want)
				}
				continue
			}
			var got string
			got, code = u.inShell(line)
			u.compare(line, got, want)
			if shown := strings.HasPrefix(want, "bnctl: "); (code != 0) != shown {
				t.Errorf("%s: exit code %d\n%s", line, code, got)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d commands were found", n)
	}
}

// inShell runs a line in a shell. It returns the output, with standard error first, and the exit code.
func (u *tutorial) inShell(line string) (string, int) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = u.folder
	if pictures, ok := strings.CutPrefix(line, "go run ./docs/examples/pictures "); ok {
		return u.typed([]string{"go", "run", "./docs/examples/pictures", filepath.Base(pictures)}), 0
	}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		u.t.Fatalf("%s: %v", line, err)
	}
	return errs.String() + out.String(), cmd.ProcessState.ExitCode()
}
