package modelfile

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// applyTo sets the preprocessing and the labels of o in m, after checking that m has the
// size of o.
func (o *Options) applyTo(m *models.Model) (*models.Model, error) {
	if err := o.checkFixedSize(m); err != nil {
		return nil, err
	}
	m, err := models.WithBoxes(m, o.Boxes)
	if err == nil {
		m, err = o.Preprocess.apply(m)
	}
	if err == nil && o.UniqueLabels {
		err = checkUnique(o.Labels)
	}
	if err != nil || o.Labels == nil {
		return m, err
	}
	if scores := classesOf(m, len(o.Labels)); len(scores) == 0 || scores[0] != len(o.Labels) {
		return nil, problem.New("labels", "", fmt.Sprintf("%s, and the output of the model is %s for each sample",
			problem.Plural(len(o.Labels), "name"), tensor.Describe(tensor.F32, scores)), "")
	}
	named := *m
	named.Labels = o.Labels
	return &named, nil
}

// checkUnique refuses a label that two classes share. It is used where labels map classes
// to the classes of data. The error is a *problem.Error for labels.
func checkUnique(labels []string) error {
	seen := map[string]bool{}
	for _, name := range labels {
		if seen[name] {
			return problem.New("labels", "", "names "+strconv.Quote(name)+" twice",
				"give each class a name of its own")
		}
		seen[name] = true
	}
	return nil
}

// classesOf returns a shape with the number of classes as its first length: the shape of the first
// output of m for one sample or, for a detector, only the number of classes of its boxes. n is the
// number of labels.
func classesOf(m *models.Model, n int) []int {
	if a, _ := m.Answer(0); a == models.Binary && n == 2 {
		return []int{2} // one sigmoid separates two classes
	}
	if m.BoxLayout() != models.NoLayout {
		return []int{m.BoxClasses(n)}
	}
	if classes, ok := m.DetectedClasses(); ok {
		return []int{classes}
	}
	f := m.Graph.Main
	return f.Values[f.Outputs[0].Value].Type.Shape
}

// withLabels gives a model the names of classes in its file, if the model has one output
// with a row for each name, or outputs that are read as boxes. The output may have probabilities and
// their logits.
func withLabels(m *models.Model, labels []string) *models.Model {
	f := m.Graph.Main
	alone := len(f.Outputs) == 1 || m.BoxLayout() != models.NoLayout
	if len(f.Outputs) == 2 {
		a, _ := m.Answer(0, 1)
		alone = a == models.Probabilities // the second output has the logits of the first
	}
	if s := classesOf(m, len(labels)); len(labels) == 0 || !alone || len(s) == 0 || s[0] != len(labels) {
		return m
	}
	named := *m
	named.Labels = labels
	return &named
}

// ReadLabels reads the names of classes: "A,B,C", or the path of a file with one on
// each line, 16 MiB at most.
func ReadLabels(text string) ([]string, error) {
	const most = 16 << 20 // bytes: a name for each of a million classes
	b, err := regular.Read(text, most)
	_, there := os.Lstat(text)
	switch {
	case err == nil:
		lines := strings.ReplaceAll(string(b), "\r\n", "\n")
		return strings.Split(strings.TrimRight(lines, "\n"), "\n"), nil
	case there == nil, !strings.Contains(text, ","):
		return nil, err
	}
	return strings.Split(text, ","), nil
}
