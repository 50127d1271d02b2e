package inspect

import (
	"fmt"

	"github.com/bnctl/bnctl/problem"
)

// Sections returns two parts of the report as text: the layers of a quantised file, and the contents of the
// file other than the model. Empty parts are left out.
func (r *Report) Sections() (list [][]string) {
	if len(r.Quantised) > 0 {
		list = append(list, r.quantisedLines())
	}
	if r.TrainingOnly != nil && len(r.TrainingOnly.Lines) > 0 {
		section := []string{"only training needs:"}
		if r.Kind == "foreign" {
			section[0] = "in addition to the model:"
		}
		for _, line := range r.TrainingOnly.Lines {
			section = append(section, "   "+line)
		}
		list = append(list, section)
	}
	return list
}

// quantisedLines returns a table of the layers of a quantised file.
func (r *Report) quantisedLines() []string {
	const head = "quantised layer"
	name, op, inBytes := len(head), len("operator"), 0
	for _, l := range r.Quantised {
		name, op = max(name, len(l.Name)), max(op, len(l.Op))
		if l.Bytes {
			inBytes++
		}
	}
	lines := []string{fmt.Sprintf("%-*s  %-*s  computed in", name, head, op, "operator")}
	for _, l := range r.Quantised {
		in := "bytes"
		if !l.Bytes {
			in = "floats: " + l.Reason
		}
		lines = append(lines, fmt.Sprintf("%-*s  %-*s  %s", name, l.Name, op, l.Op, in))
	}
	return append(lines, fmt.Sprintf("%s in bytes, %d in floats", problem.Plural(inBytes, "layer"),
		len(r.Quantised)-inBytes))
}
