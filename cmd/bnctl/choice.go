package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats"
)

// foreignChoice says what of a foreign file was taken, and what was not.
type foreignChoice struct {
	Chosen *chosenEvent    `json:"chosen,omitempty"`
	Left   []formats.Group `json:"left,omitempty"`
}

// chosenEvent is where in a file the tensors were; the key is "" if they are
// all that there is.
type chosenEvent struct {
	Key     string `json:"key"`
	Tensors int    `json:"tensors"`
}

func choiceOf(f *formats.File) foreignChoice {
	return foreignChoice{&chosenEvent{f.Key, len(f.Tensors)}, f.Left}
}

// noteChoice says in a line what was chosen of a file, and what was left out,
// if that is not everything, and what
// else is to be said of it.
func noteChoice(o *output, path string, f *formats.File) {
	var left []string
	for _, g := range f.Left {
		text := g.Name + " (" + g.Reason
		if g.Tensors > 1 {
			text += fmt.Sprintf(", %d tensors", g.Tensors)
		}
		left = append(left, text+")")
	}
	line := fmt.Sprintf("%s: took %s", path, counted(len(f.Tensors), "tensor"))
	if f.Key != "" {
		line += " of " + f.Key
	}
	switch {
	case len(left) > 0:
		o.note("%s; left out %s", line, few(left))
	case f.Key != "":
		o.note("%s", line)
	}
	for _, n := range f.Findings {
		if n.Fault {
			continue // doctor lists it, and nothing else gets a model of such a graph
		}
		o.note("%s: %s", path, findingLine(n))
	}
}

// noteDoubtful says which of a file's tensors plainly are no layer's, and that
// they were kept all the same: the model's own code might miss them.
func noteDoubtful(o *output, f *formats.File) {
	names := formats.Doubtful(f)
	if len(names) == 0 {
		return
	}
	o.note("no layer's by the name, but kept: %s; leave out what predicting does not need, --drop '%s'",
		few(names), names[0])
}

// few joins the first of what may be many.
func few(names []string) string {
	const shown = 8
	if n := len(names) - shown; n > 0 {
		names = append(slices.Clone(names[:shown]), fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}
