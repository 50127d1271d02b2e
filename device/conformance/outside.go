package conformance

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/problem"
)

// printed counts the lines that a plugin prints to standard output, and keeps the first.
type printed struct {
	mu    sync.Mutex
	lines int
	first string
}

func (p *printed) add(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines++; p.lines == 1 {
		p.first = line
	}
}

// result returns a failed case if the plugin printed lines to standard output, and otherwise a passed
// one.
func (p *printed) result() devicetest.Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := devicetest.Result{Case: devicetest.Case{Name: outside + "standard output",
		Rule: "It writes nothing to standard output after the line of the handshake (docs/plugins.md): print to " +
			"standard error."}}
	if p.lines > 0 {
		r.Err = fmt.Errorf("it printed %d lines there, the first is %.200q", p.lines, p.first)
	}
	return r
}

// nameResult checks that the plugin's name equals the name in its file name. Users type the latter.
func nameResult(path, name string) devicetest.Result {
	r := devicetest.Result{Case: devicetest.Case{Name: outside + "its name",
		Rule: "PluginInfo.name: as in the name of the executable, bnctl-device-NAME: rename one of them."}}
	file := filepath.Base(path)
	if want := remote.PluginName(path); strings.HasPrefix(file, "bnctl-device-") && want != name {
		r.Err = fmt.Errorf("%s describes itself as %q", file, name)
	}
	return r
}

// Lines returns the summary of a level as text: first the faults that belong to no case, then the numbers
// of faults and cases.
func (j Judgement) Lines() []string {
	var lines, lacks []string
	for _, op := range j.Missing {
		lines = append(lines, fmt.Sprintf("FAULT  %s: operation %v is missing, and no network trains without it",
			j.Level, op))
	}
	if j.Stopped != "" {
		lines = append(lines, fmt.Sprintf("FAULT  %s: %s", j.Level, j.Stopped))
	}
	for _, op := range j.Lacks {
		lacks = append(lacks, op.String())
	}
	if len(lacks) == 0 {
		lacks = []string{"none"}
	}
	return append(lines, fmt.Sprintf("%s: %s, %s; operations that the device lacks: %s", j.Level,
		problem.Plural(j.Cases, "case"), problem.Plural(j.Faults, "fault"), strings.Join(lacks, " ")))
}
