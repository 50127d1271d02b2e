package modelfile

import (
	"fmt"
	"os"
	"strings"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/regular"
	"github.com/bnctl/bnctl/tensor"
)

// finish gives a model the preprocessing and the labels of o.
func (o *Options) finish(m *models.Model) (*models.Model, error) {
	m, err := o.Preprocess.apply(m)
	if err != nil || o.Labels == nil {
		return m, err
	}
	f := m.Graph.Main
	scores := f.Values[f.Outputs[0].Value].Type.Shape
	if a, _ := m.Answer(0); a == models.Binary && len(o.Labels) == 2 {
		scores = []int{2} // one sigmoid tells two classes apart
	}
	if len(scores) == 0 || scores[0] != len(o.Labels) {
		return nil, problem.New("labels", "", fmt.Sprintf("%s, and the output of the model is %s for each sample",
			problem.Counted(len(o.Labels), "name"), tensor.Describe(tensor.F32, scores)), "")
	}
	named := *m
	named.Labels = o.Labels
	return &named, nil
}

// Labels reads the names of classes: "A,B,C", or the path of a file with one on
// each line, 16 MiB at most.
func Labels(text string) ([]string, error) {
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
