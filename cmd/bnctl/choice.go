package main

import (
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
)

// noteChoice notes in a line which tensors of a file were chosen, and which were left out,
// unless all were chosen. It also notes other findings about the file.
func noteChoice(o *output, k *modelfile.Choice) {
	if k == nil {
		return // a file of bnctl
	}
	if line := k.Line(); line != "" {
		o.note("%s", line)
	}
	for _, n := range k.Findings {
		if n.Fault {
			continue // doctor lists it, and other commands get no model of this graph
		}
		o.note("%s: %s", k.Path, findingLine(n))
	}
}

// findingLine writes a remark about a file.
func findingLine(n formats.Finding) string {
	line := n.Text
	if n.Where != "" {
		line = n.Where + ": " + line
	}
	if n.Advice != "" {
		line += "; " + inFlags(n.Advice)
	}
	return line
}

// noteSuspect notes the tensors of a file that plainly belong to no layer, and that they
// were kept nevertheless: the model's code might miss them.
func noteSuspect(o *output, names []string) {
	if len(names) > 0 {
		o.note("no layer's by the name, but kept: %s; leave out what predicting does not need, --drop '%s'",
			modelfile.Few(names), names[0])
	}
}

// viewModel opens the model of a file for reading only, and notes which tensors were chosen.
func viewModel(o *output, path string, options modelfile.Options) (*modelfile.ReadOnly, error) {
	v, err := modelfile.OpenReadOnly(path, options)
	if err == nil {
		noteChoice(o, v.Choice)
	}
	return v, err
}
