package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// noteChoice says in a line what was chosen of a file, and what was left out,
// if that is not everything, and what else is to be said of it.
func noteChoice(o *output, k *modelfile.Choice) {
	if k == nil {
		return // bnctl's own file
	}
	var left []string
	for _, g := range k.Left {
		text := g.Name + " (" + g.Reason
		if g.Tensors > 1 {
			text += fmt.Sprintf(", %d tensors", g.Tensors)
		}
		left = append(left, text+")")
	}
	line := fmt.Sprintf("%s: took %s", k.Path, counted(k.Tensors, "tensor"))
	if k.Key != "" {
		line += " of " + k.Key
	}
	switch {
	case len(left) > 0:
		o.note("%s; left out %s", line, few(left))
	case k.Key != "":
		o.note("%s", line)
	}
	for _, n := range k.Findings {
		if n.Fault {
			continue // doctor lists it, and nothing else gets a model of such a graph
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
		line += "; " + n.Advice
	}
	return line
}

// noteDoubtful says which of a file's tensors plainly are no layer's, and that
// they were kept all the same: the model's own code might miss them.
func noteDoubtful(o *output, names []string) {
	if len(names) > 0 {
		o.note("no layer's by the name, but kept: %s; leave out what predicting does not need, --drop '%s'",
			few(names), names[0])
	}
}

// few joins the first of what may be many.
func few(names []string) string {
	const shown = 8
	if n := len(names) - shown; n > 0 {
		names = append(slices.Clone(names[:shown]), fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// openModel reads the model of a file as the flags say, and notes what was taken of it.
func openModel(c *cli.Context, path string) (*models.Model, error) {
	o, err := modelOptions(c)
	if err != nil {
		return nil, err
	}
	m, err := modelfile.Open(path, o)
	if err != nil {
		return nil, err
	}
	noteChoice(outputOf(c), m.Choice)
	return m.Model, nil
}

// viewModel is openModel for who does not change the model, and closes it.
func viewModel(c *cli.Context, path string) (*modelfile.Viewed, error) {
	o, err := modelOptions(c)
	if err != nil {
		return nil, err
	}
	v, err := modelfile.View(path, o)
	if err == nil {
		noteChoice(outputOf(c), v.Choice)
	}
	return v, err
}

// noteOfPictures says of a file that holds m that pictures will be refused for
// it, though its input has the shape of pictures.
func noteOfPictures(o *output, path string, m *models.Model, command string) {
	if !modelfile.WantsPreprocessing(m) {
		return
	}
	in := m.Input()
	o.note("%s takes arrays %s, no pictures: nothing says how they become such arrays. To change that, "+
		"%s again with --preprocess imagenet, unit, raw or caffe, or --mean and --std", path,
		tensor.Describe(in.DType, in.Shape), command)
}

// warnOfSickness says that the model of a file is sick, and why, if it is.
func warnOfSickness(o *output, s *doctor.Sickness, path string) {
	if faults := s.Faults(); len(faults) > 0 {
		o.note("%s is sick: %s; see bnctl doctor %s", path, few(faults), path)
	}
}
