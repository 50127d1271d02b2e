// Package models defines templates: models without anything that depends on training or
// devices. It has the architectures of the zoo by name, and initialises models.
//
// Use Build for an architecture of the zoo, New for another graph, and package modelfile to
// read files.
package models

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Model is a template: a model in eval mode. It contains no device and no replica. Its
// graph has one function, main. The input and the outputs of main are of the kind rows:
// they have a row for each sample. The input is u8 [H,W,C] if the first operation is image,
// otherwise f32. Classifiers call their output "logits". If a model has several inputs,
// they are its Fields.
type Model struct {
	Architecture string // name in the zoo, or the graph's name
	Graph        *graph.Graph
	State        map[string]tensor.Tensor // every tensor that Graph.State declares
	Preprocess   Preprocess
	Labels       []string        // class names; nil if unknown
	Recipe       json.RawMessage // how it was trained; nil if unknown
	// Best is the epoch of these weights, if training kept the best epoch. It is nil for
	// the last epoch, or if it is unknown.
	Best *BestEpoch
	// Chain is the digest of the chain of the training (package serialize/chain): it covers the recipe and
	// the state after every epoch. It is "" if the file has no such digest.
	Chain string
	// Quantised describes the origin of an int8 template; nil for others.
	Quantised *Quantised
	// FileTypes are the types of outputs in the file of another program, where they are not f32.
	FileTypes []FileType
	// FileTensors are the tensors that the file of another program has under another name or in another form.
	FileTensors []FileTensor
	// Thresholds are the least probabilities at which labels hold, one for each number of the first output:
	// see WithThresholds. nil: a label that does not exclude others holds above a half.
	Thresholds []float64
	// Fields are the inputs of a model with several, which the one input of the graph holds one
	// after another; nil for a model with one input.
	Fields []Field
	// Tail is the end of the file of another program, which the host computes from the outputs of the
	// graph; nil for most models.
	Tail *Tail

	// Float is the float32 model of a training for int8 that measures ranges again or folds batch norms later,
	// as package modelfile/quantize writes it; nil for other models.
	Float json.RawMessage

	boxes Layout // see WithBoxes
}

// BestEpoch is the epoch of a run after which a figure of the validation data was the best.
type BestEpoch struct {
	Epoch  int     `msgpack:"epoch" json:"epoch"`   // counted from 1
	Figure string  `msgpack:"figure" json:"figure"` // one of Figures
	Value  float64 `msgpack:"value" json:"value"`
}

// Figures lists the figures by which a run may choose its best epoch.
func Figures() []string {
	return []string{"accuracy", "loss", "miou", "balanced-accuracy", "f1", "auroc", "exact", "mae", "rmse", "r2",
		"ap50"}
}

// IsError reports whether a figure of Figures is an error: the smallest is the best.
func IsError(figure string) bool { return slices.Contains([]string{"loss", "mae", "rmse"}, figure) }

// Check returns an error for values that training does not write.
func (b *BestEpoch) Check() error {
	known := Figures()
	if b.Epoch < 1 || !slices.Contains(known, b.Figure) || !tensor.IsFinite(b.Value) {
		return fmt.Errorf("the best epoch is %d, with %s %g: want an epoch above 0 and one of %s", b.Epoch,
			b.Figure,
			b.Value, strings.Join(known, ", "))
	}
	return nil
}

// Preprocess describes how an image file becomes the input of the graph. Scale, mean,
// deviation and channel order are not here: they are attributes of the graph's image
// operation.
type Preprocess struct {
	// Resize is the length in pixels to which the shorter side is resized, with antialias,
	// before the centre is cropped. 0: to the smallest size that covers the input, and not
	// at all if the image has its size.
	Resize int `msgpack:"resize" json:"resize,omitempty"`
	// Known is false for a model from a file without preprocessing. It refuses image files
	// until the caller supplies the preprocessing.
	Known bool `msgpack:"known" json:"known"`
	// EXIF reports that image files are turned by their EXIF orientation.
	EXIF bool `msgpack:"exif,omitempty" json:"exif,omitempty"`
	// Interpolation is the filter of resizing: "", which is bilinear, or
	// "bicubic".
	Interpolation string `msgpack:"interpolation,omitempty" json:"interpolation,omitempty"`
	// Letterbox scales an image until it fits into the input, at its upper left corner, and fills the
	// rest with 114: nothing is cropped. Resize is 0.
	Letterbox bool `msgpack:"letterbox,omitempty" json:"letterbox,omitempty"`
}

// Input returns the type of the model's input.
func (m *Model) Input() graph.Type {
	f := m.Graph.Main
	return f.Values[f.Inputs[0]].Type
}

// Normalises reports whether m has a batch norm.
func (m *Model) Normalises() bool {
	return slices.ContainsFunc(m.Graph.Main.Nodes, func(n graph.Node) bool { return n.Op == graph.BatchNorm })
}

// Check verifies the graph and that the state is complete: every declared
// tensor is there with its type and shape, and nothing else.
func (m *Model) Check() error {
	if err := m.Graph.Check(); err != nil {
		return err
	}
	if len(m.Graph.Main.Inputs) != 1 {
		return fmt.Errorf("model %s has %s, want 1", m.Architecture,
			problem.Plural(len(m.Graph.Main.Inputs), "input"))
	}
	if err := m.checkFields(); err != nil {
		return err
	}
	if v := m.Preprocess.Interpolation; v != "" && v != "bicubic" {
		return fmt.Errorf("model %s: interpolation %.80q is none that there is; want bicubic, or none for bilinear",
			m.Architecture, v)
	}
	for _, s := range m.Graph.State {
		t, ok := m.State[s.Name]
		if !ok {
			return fmt.Errorf("model %s: tensor %s is missing", m.Architecture, s.Name)
		}
		if t.DType != s.DType || !slices.Equal(t.Shape, s.Shape) {
			return fmt.Errorf("model %s: tensor %s is %v, the graph declares %s",
				m.Architecture, s.Name, t, tensor.Describe(s.DType, s.Shape))
		}
	}
	if len(m.State) != len(m.Graph.State) {
		return fmt.Errorf("model %s has %s, the graph declares %d",
			m.Architecture, problem.Plural(len(m.State), "tensor"), len(m.Graph.State))
	}
	if err := m.checkThresholds(); err != nil {
		return err
	}
	return m.checkInt8()
}

// Clone returns a copy with independent state.
func (m *Model) Clone() *Model {
	c := *m
	c.State = make(map[string]tensor.Tensor, len(m.State))
	for name, t := range m.State {
		c.State[name] = t.Clone()
	}
	return &c
}
