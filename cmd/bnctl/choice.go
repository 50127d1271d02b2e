package main

import (
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
)

// noteChoice writes a note about the tensors of a file that were chosen as the model, and those that were
// left out. If all were chosen, it writes none. It also writes notes about other findings in the file.
func noteChoice(o *output, k *modelfile.Choice) {
	if k == nil {
		return // a file of bnctl itself
	}
	if line := k.Line(); line != "" {
		o.note("%s", line)
	}
	for _, n := range k.Findings {
		if n.Fault {
			continue // only doctor reports this finding, because other commands do not get a model of this graph
		}
		o.note("%s: %s", k.Path, findingLine(n))
	}
}

// findingLine returns a finding about a file as a line of text.
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

// noteSuspect writes a note about tensors of a file that plainly belong to no layer. They were kept
// nevertheless, because the code of the model may need them.
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
