package bitwise

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

//go:embed cases.txt
var text string

// Case is a program of a few nodes.
type Case struct {
	Name    string
	Program *graph.Program
}

// Cases returns all cases.
func Cases() ([]Case, error) {
	var all []Case
	for i, section := range strings.Split(text, "\n== ") {
		if i == 0 {
			continue // the text before the first case describes the file
		}
		c, err := parse(section)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// parse reads a case: its name, then lines that begin with "state" or "in", then nodes.
func parse(section string) (Case, error) {
	name, rest, _ := strings.Cut(section, "\n")
	var state, inputs, body string
	for line := range strings.Lines(rest) {
		if in, ok := strings.CutPrefix(line, "in "); ok {
			inputs = strings.TrimSpace(in)
		} else if s, ok := strings.CutPrefix(line, "state "); ok {
			state += "state " + strings.TrimSpace(s) + " constant\n"
		} else {
			body += "  " + line
		}
	}
	const program = "bnctl program 1\nprogram \"case\"\n\n%s\nfunc predict(%s) {\n%s}\n"
	p, err := graph.ParseProgram(fmt.Appendf(nil, program, state, inputs, body))
	if err != nil {
		return Case{}, fmt.Errorf("case %s: %w", name, err)
	}
	outputs(p.Functions[0])
	return Case{name, p}, nil
}

// outputs makes all values that no node reads results of the program. Other values stay internal, so that
// nodes may be fused.
func outputs(fn *graph.Function) {
	read := map[graph.Value]bool{}
	for _, n := range fn.Nodes {
		for _, v := range n.In {
			read[v] = true
		}
	}
	for _, n := range fn.Nodes {
		for _, v := range n.Out {
			if !read[v] {
				fn.Outputs = append(fn.Outputs, graph.Output{Name: fn.Values[v].Name, Value: v})
			}
		}
	}
}
