package modelfile

import (
	"slices"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/problem"
)

// Choice lists the tensors used from a foreign file, the tensors left out, and the findings
// about the file.
type Choice struct {
	Path     string
	Format   string            // formats.File's: "pytorch", "onnx" ...
	Key      string            // place of the tensors in the file; "" if it contains only them
	Tensors  int               // number of tensors used
	Wrappers []string          // layers around the model that were opened or stripped, outermost first
	LeftOut  []formats.Group   // groups that were not used, with the reason
	Counters []formats.Counter // single values that are not tensors: epoch, step
	Findings []formats.Finding // oddities and faults
}

// NewChoice returns the choice made from f, the file at path, with options o.
func NewChoice(path string, f *formats.File, o Options) *Choice {
	left := slices.Clone(f.Left)
	for i, g := range left {
		left[i].Reason = problem.ReplaceOptions(g.Reason, o.Option)
		left[i].Advice = problem.ReplaceOptions(g.Advice, o.Option)
	}
	return &Choice{Path: path, Format: f.Format, Key: f.Key, Tensors: len(f.Tensors), Wrappers: f.Wrappers,
		LeftOut: left, Counters: f.Counters, Findings: f.Findings}
}

// ChoiceReport is the part of a Choice that JSON reports contain. It is empty for bnctl
// files.
type ChoiceReport struct {
	Chosen *ChosenTensors  `json:"chosen,omitempty"`
	Left   []formats.Group `json:"left,omitempty"`
}

// ChosenTensors is the place of the tensors in a file; the key is "" if the file contains
// only them.
type ChosenTensors struct {
	Key     string `json:"key"`
	Tensors int    `json:"tensors"`
}

// Report returns the report of k, which may be nil.
func (k *Choice) Report() ChoiceReport {
	if k == nil {
		return ChoiceReport{}
	}
	return ChoiceReport{&ChosenTensors{k.Key, k.Tensors}, k.LeftOut}
}
