package inspect

import (
	"fmt"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// inspectForeign describes a file of another program. Its architecture comes from the
// options, from the file's graph, or from the zoo; it may be unknown.
func inspectForeign(path string, o Options) (*Report, error) {
	f, err := modelfile.OpenForeign(path, o.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if o.Verify {
		if err := readAll(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	m, err := modelfile.Template(f, o.File)
	if err != nil && (o.File.Arch != "" || o.Graph) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	byTensors, err := formats.Norms(f)
	if err != nil {
		return nil, err
	}
	choice := modelfile.NewChoice(path, f, o.File)
	r := &Report{Format: f.Format, Kind: "foreign", Parameters: formats.Parameters(f), Layers: tensors(f),
		Verified: o.Verify, BN: norms(byTensors), TrainingOnly: choice.Removed(), Counters: f.Counters,
		Findings: f.Findings, Quantised: f.Quantised, ChoiceReport: choice.Report(),
		Tensors: len(f.Tensors), Norms: len(byTensors)}
	sick := doctor.Diagnosis{Norms: byTensors}
	for _, n := range f.Findings {
		if n.Fault {
			sick.GraphFaults = append(sick.GraphFaults, n.Where+": "+n.Text)
		}
	}
	r.Health, r.Warnings = sick.Health()
	if f.NoModel != nil {
		r.NoGraph = f.NoModel.Error()
	}
	if m != nil {
		r.model(m)
		r.Recipe, r.Graph, r.BN = nil, m.Graph, norms(formats.ModelNorms(m))
	}
	return r, nil
}

// readAll reads every tensor, one at a time.
func readAll(f *formats.File) error {
	for _, t := range f.Tensors {
		if _, err := t.Load(); err != nil {
			return err
		}
	}
	return nil
}

// tensors lists the tensors of a file in the form of a table of layers.
func tensors(f *formats.File) []models.Layer {
	out := make([]models.Layer, len(f.Tensors))
	for i, t := range f.Tensors {
		out[i] = models.Layer{Name: t.Name, Op: "tensor", Output: tensor.Describe(t.DType, t.Shape),
			Parameters: tensor.Count(t.Shape)}
	}
	return out
}
