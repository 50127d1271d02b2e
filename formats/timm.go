package formats

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/internal/timm"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// fromTimm renames tensors from timm's names to those in an architecture; ok is false if
// they do not have timm's names.
func fromTimm(architecture string, tensors []Tensor) (out []Tensor, ok bool) {
	names := make([]string, len(tensors))
	for i, t := range tensors {
		names[i] = t.Name
	}
	names = timm.Names(architecture, names)
	if names == nil {
		return tensors, false
	}
	for i, t := range tensors {
		out = append(out, t.Renamed(names[i]))
	}
	return out, foreign.CheckNames(out) == nil
}

// shapedFor returns tensors in the shapes of a model if the numbers of elements and rows
// agree: a dense layer stored as a convolution over the whole feature map, or a scale
// without its axes of length one.
func shapedFor(m *models.Model, tensors []Tensor) []Tensor {
	want := make(map[string][]int, len(m.Graph.State))
	for _, s := range m.Graph.State {
		want[s.Name] = s.Shape
	}
	out := slices.Clone(tensors)
	for i, t := range out {
		shape := want[t.Name]
		if len(shape) == 0 || len(t.Shape) == 0 || slices.Equal(shape, t.Shape) || shape[0] != t.Shape[0] ||
			tensor.Count(shape) != tensor.Count(t.Shape) {
			continue
		}
		if shaped, err := foreign.NewTensor(t.Name, t.DType, shape, t.ReadInto); err == nil {
			out[i] = shaped
		}
	}
	return out
}

// tensorFlowsName matches timm's names for networks that were trained with TensorFlow.
var tensorFlowsName = compiled(`(?:^|[^a-z0-9])(tf_[a-z0-9]+_[a-z0-9_]+)`)

// tensorFlows returns timm's name for the variant of a network that was trained with
// TensorFlow, found in the name of the file or in its other contents; "" otherwise.
func tensorFlows(f *File) string {
	told := []string{f.FileName}
	for _, c := range f.Counters {
		told = append(told, c.Value)
	}
	for _, s := range told {
		if m := tensorFlowsName().FindStringSubmatch(s); m != nil {
			return m[1]
		}
	}
	return ""
}

// checkTimm rejects a network that has the names and shapes of an architecture but computes
// something else.
func checkTimm(f *File, architecture string) error {
	name := tensorFlows(f)
	if name == "" {
		return nil
	}
	return problem.Failure("", fmt.Sprintf("the file is of timm's %s, whose tensors have the names and shapes "+
		"of %s; but it pads as TensorFlow does and adds 0.001 to variances, and would predict something else",
		name, architecture), "name an ONNX file of "+name+" with {arch}, or take the weights to "+
		"train "+architecture+" from with {init}")
}

// sayTimm reports that f had timm's names, and the consequences for a model m. If timm's
// eps differs from m's, the batch norms of m get timm's eps if sets is true; otherwise they
// keep their own.
func sayTimm(f *File, m *models.Model, sets bool) {
	text, advice := "the names are timm's; taken for "+m.Architecture, ""
	eps := timm.Eps(m.Architecture)
	switch {
	case eps != 0 && sets:
		f.Eps = eps
		text += fmt.Sprintf(", with timm's eps of %g in batch norms", eps)
	case eps != 0:
		text += fmt.Sprintf(", whose batch norms have another eps than timm's %g", eps)
		advice = "train the file itself as {model} to keep it"
	}
	f.Find("", text, advice)
	if name := tensorFlows(f); name != "" {
		f.Find("", name+" was trained with the padding and the eps of TensorFlow, which "+m.Architecture+
			" does not have", "train on; or name an ONNX file of it as {model}")
	}
}

// withEps returns m with another eps in all batch norms, or m itself if eps is 0.
func withEps(m *models.Model, eps float64) *models.Model {
	if eps == 0 {
		return m
	}
	c := *m
	c.Graph = &graph.Graph{Name: m.Graph.Name, State: slices.Clone(m.Graph.State), Main: m.Graph.Main.Clone()}
	for i := range c.Graph.Main.Nodes {
		if n := &c.Graph.Main.Nodes[i]; n.Op == graph.BatchNorm {
			n.Attrs = n.Attrs.With("eps", eps)
		}
	}
	return &c
}
