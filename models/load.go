package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Loaded lists what InitFrom did, by names of tensors.
type Loaded struct {
	Matched    []string // tensors of both m and the source, in the order of m's graph
	Missing    []string // tensors of m that the source lacks: they are unchanged
	Mismatched []string // tensors with another shape in the source, with both shapes; they are unchanged
	Unused     []string // tensors of the source that m lacks, sorted
	// Fits is the architecture of the zoo that the source belongs to, if it is another than
	// m's and m loaded less than half of its tensors; else "".
	Fits string
}

// LoadReport is the JSON form of Loaded: how many tensors were loaded, how many are new,
// and how many were left in the file. It has the names of the new tensors and of those
// left. Tensors of another shape count as new and as left.
type LoadReport struct {
	File  string   `json:"file"`
	Taken int      `json:"taken"`
	New   int      `json:"new"`
	Left  int      `json:"left"`
	Names []string `json:"new_names,omitempty"`
	// OtherShape lists tensors that have another shape in the file, with both shapes.
	OtherShape []string `json:"other_shape,omitempty"`
	LeftNames  []string `json:"left_names,omitempty"`
	Fits       string   `json:"fits,omitempty"`
}

// Report returns the summary of loading a file.
func (l Loaded) Report(file string) LoadReport {
	return LoadReport{file, len(l.Matched), len(l.Missing) + len(l.Mismatched),
		len(l.Unused) + len(l.Mismatched),
		l.Missing, l.Mismatched, l.Unused, l.Fits}
}

// Few reports whether less than half of a model's tensors were taken.
func (l Loaded) Few() bool { return len(l.Matched) < len(l.Missing)+len(l.Mismatched) }

// String returns the numbers in words: "60 tensors taken, 2 of another shape left as
// they were".
func (l Loaded) String() string {
	s := problem.Plural(len(l.Matched), "tensor") + " taken"
	for _, list := range []struct {
		names []string
		what  string
	}{{l.Missing, "not in the file"}, {l.Mismatched, "of another shape"}, {l.Unused, "of the file not used"}} {
		if len(list.names) > 0 {
			s += fmt.Sprintf(", %d %s (%s)", len(list.names), list.what, firstNames(list.names))
		}
	}
	switch {
	case l.Fits != "":
		s += "; the file is of a " + l.Fits
	case len(l.Mismatched) > len(l.Matched):
		s += "; the file is of a network of other widths, and training begins nearly from nothing: take an ONNX " +
			"file of that network as the model to continue with its weights"
	}
	return s
}

// firstNames lists the first three names, followed by dots if there are more.
func firstNames(names []string) string {
	const most = 3
	s := ""
	for i, n := range names {
		switch {
		case i == most:
			return s + ", ..."
		case i > 0:
			s += ", "
		}
		s += n
	}
	return s
}

// backbone is the prefix of the names that the tensors of a classifier have in a larger
// network. The classifier may have been trained before.
const backbone = "backbone."

// body follows the prefix backbone in the tensor names of networks with a feature pyramid,
// like torchvision's detectors.
const body = "body."

// features is the prefix of these names in classifiers that are a list of layers, like
// torchvision's MobileNetV3.
const features = "features."

// InitFrom copies tensors, statistics included, from another model's state into m, which
// has been initialised, by name and shape. A tensor of a classifier also fits a tensor of m
// with "backbone." or "backbone.body." in front of its name, or in place of "features.";
// see mobileNetName for the backbone of SSDlite. Tensors of other types become f32 where m
// has f32. It is an error if no tensor fits, or if values that training continues from are
// NaN or infinite. m then stays unchanged.
func InitFrom(m *Model, source map[string]tensor.Tensor) (Loaded, error) {
	var l Loaded
	state, known := make(map[string]tensor.Tensor, len(m.State)), map[string]bool{}
	for _, s := range m.Graph.State {
		for _, name := range names(s) {
			known[name] = true
		}
		t, err := l.pick(s, source)
		switch {
		case err != nil:
			return Loaded{}, fmt.Errorf("model %s: tensor %s: %w", m.Architecture, s.Name, err)
		case t.IsZero():
			t = m.State[s.Name]
		}
		state[s.Name] = t
	}
	for name := range source {
		if !known[name] {
			l.Unused = append(l.Unused, name)
		}
	}
	slices.Sort(l.Unused)
	if len(l.Matched) == 0 {
		return l, fmt.Errorf("model %s: none of the file's %s has the name and shape of one of "+
			"the model's %d: %v", m.Architecture, problem.Plural(len(source), "tensor"), len(known), l)
	}
	m.State = state
	return l, nil
}

// names returns the names that s may have in a source, the likeliest
// first.
func names(s graph.State) []string {
	if inner, ok := strings.CutPrefix(s.Name, backbone); ok {
		inner = strings.TrimPrefix(inner, body)
		return []string{s.Name, inner, features + inner, mobileNetName(inner)}
	}
	return []string{s.Name}
}

// pick returns a copy of the source's tensor for s, or the zero Tensor if no tensor fits.
func (l *Loaded) pick(s graph.State, source map[string]tensor.Tensor) (tensor.Tensor, error) {
	var t tensor.Tensor
	ok := false
	for _, name := range names(s) {
		if t, ok = source[name]; ok {
			break
		}
	}
	if !ok {
		l.Missing = append(l.Missing, s.Name)
		return tensor.Tensor{}, nil
	}
	if t.DType != s.DType && s.DType == tensor.F32 {
		var err error
		if t, err = t.ToF32(); err != nil {
			return t, err
		}
	}
	if t.DType != s.DType || !slices.Equal(t.Shape, s.Shape) {
		both := fmt.Sprintf("%s: %v there, %s here", s.Name, t, tensor.Describe(s.DType, s.Shape))
		l.Mismatched = append(l.Mismatched, both)
		return tensor.Tensor{}, nil
	}
	if s.Role != graph.Constant && t.DType == tensor.F32 {
		if err := checkFinite(t.F32()); err != nil {
			return t, err
		}
	}
	l.Matched = append(l.Matched, s.Name)
	return t.Clone(), nil
}

// checkFinite returns an error with the number of NaN and infinite values, from which no
// training can start.
func checkFinite(values []float32) error {
	n := 0
	for _, v := range values {
		if !tensor.IsFinite(v) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return problem.Advise("take a file from before it broke; doctor with {repair} estimates running statistics "+
		"anew", "NaN or infinite in %d of %s", n, problem.Plural(len(values), "value"))
}
