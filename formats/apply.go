package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/keras"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// ignorable reports whether a tensor without a parameter in the architecture may be left
// out: the counter of a batch norm, which prediction does not need, and two tensors of Swin
// that follow from the size of its windows: the index into the table of relative positions,
// and the attention mask.
func ignorable(name string) bool {
	return name == "num_batches_tracked" || strings.HasSuffix(name, ".num_batches_tracked") ||
		strings.HasSuffix(name, ".relative_position_index") || strings.HasSuffix(name, ".attn_mask")
}

// fit describes how the tensors of a file match the parameters of a model.
type fit struct {
	used    int
	unused  []Tensor // tensors that fit no parameter
	alike   int      // tensors in unused with the name of a parameter, apart from the numbers in it
	missing []string // parameters without a tensor
	renamed bool     // the tensors have timm's names
}

func (f fit) exact() bool { return len(f.unused) == 0 && len(f.missing) == 0 }

func (f fit) String() string {
	s := fitting(f.used)
	if len(f.unused) > 0 {
		var names []string
		for _, t := range f.unused {
			names = append(names, t.String())
		}
		s += fmt.Sprintf("; %s nothing (%s)", fitting(len(names)), firstNames(names))
	}
	if len(f.missing) > 0 {
		s += fmt.Sprintf("; %s got none (%s)", problem.Plural(len(f.missing), "parameter"), firstNames(f.missing))
	}
	return s
}

// fitting returns a phrase with the number of tensors that fit.
func fitting(n int) string {
	if n == 1 {
		return "1 tensor fits"
	}
	return problem.Plural(n, "tensor") + " fit"
}

// compare matches tensors with the parameters of a model, by name and shape.
func compare(tensors []Tensor, m *models.Model) fit {
	want, kinds := make(map[string][]int, len(m.Graph.State)), map[string]bool{}
	for _, s := range m.Graph.State {
		want[s.Name], kinds[unnumbered(s.Name)] = s.Shape, true
	}
	var f fit
	for _, t := range tensors {
		shape, ok := want[t.Name]
		switch {
		case ok && slices.Equal(shape, t.Shape):
			f.used++
			delete(want, t.Name)
		case !ignorable(t.Name):
			f.unused = append(f.unused, t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		f.missing = append(f.missing, name+" "+tensor.Describe(tensor.F32, want[name]))
	}
	if len(f.missing) == 0 { // if parameters are missing, the file does not fit in any case
		f.unused = slices.DeleteFunc(f.unused, func(t Tensor) bool { return looseBeside(t, m) != "" })
	}
	for _, t := range f.unused {
		if kinds[unnumbered(t.Name)] {
			f.alike++
		}
	}
	return f
}

// unnumbered returns a name without its numbers.
func unnumbered(name string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// apply returns a copy of m, a model without weights, with the tensors of f as its weights.
// Each tensor must match a parameter and each parameter a tensor, by name and shape.
// Tensors of float16, bfloat16 and float64 become f32, and kernels of TensorFlow and Keras
// are transposed to channels first. A prefix shared by all names is removed if the tensors
// fit without it. Tensors that clearly belong to no layer are left out and recorded in f.
func apply(f *File, m *models.Model) (*models.Model, error) {
	original := f
	f, err := arranged(f, m)
	if err != nil {
		return nil, err
	}
	tensors, fit, renamed := unprefixed(f.Tensors, m)
	if renamed && fit.exact() {
		if err := checkTimm(original, m.Architecture); err != nil {
			return nil, err
		}
		sayTimm(original, m, true)
	}
	if !fit.exact() {
		advice := fit.advice(m.Architecture)
		if as, err := Identify(&File{FileName: f.FileName, Tensors: slices.Clone(f.Tensors)}); err == nil &&
			as.Architecture != m.Architecture {
			advice = "it fits " + as.Architecture + ": name that with {arch}, or leave it out"
		}
		return nil, original.Chosen(problem.Failure("",
			fmt.Sprintf("the file does not fit model %s: %s", m.Architecture, fit), advice))
	}
	f.SetTensors(tensors)
	leaveLoose(f, m)
	if f != original {
		original.Left = append(original.Left, f.Left...)
	}
	out := *withEps(m, original.Eps)
	out.State = make(map[string]tensor.Tensor, len(m.Graph.State))
	for _, s := range m.Graph.State {
		t, _ := f.Tensor(s.Name)
		v, err := loadF32(t, original.Memory)
		if err != nil {
			return nil, err
		}
		out.State[s.Name] = v
	}
	return &out, out.Check()
}

// unprefixed renames the tensors so that they fit m, and returns them with their fit. It
// removes a common prefix or, if the tensors have timm's names, replaces these by the names
// of the architecture. renamed reports whether they had timm's names. If neither makes the
// tensors fit, unprefixed returns them unchanged.
func unprefixed(tensors []Tensor, m *models.Model) (fitting []Tensor, best fit, renamed bool) {
	best = compare(tensors, m)
	shorter, prefix := tensors, ""
	for depth := 0; depth <= maxPrefixes && !best.exact(); depth++ {
		if got := compare(shorter, m); got.exact() {
			return shorter, got, false
		}
		if theirs, ok := fromTimm(m.Architecture, shorter); ok {
			theirs = shapedFor(m, theirs)
			return theirs, compare(theirs, m), true
		}
		if shorter, prefix = dropPrefix(shorter); prefix == "" {
			break
		}
	}
	return tensors, best, false
}

// advice returns a remedy for a file that does not fit the named architecture: how to
// estimate statistics if only they are missing, how to use another network of the same
// family, or how to leave out the only tensors that do not fit.
func (f fit) advice(architecture string) string {
	from := ": name an ONNX file of it with {arch}, or train " + architecture + " from what fits with {init}"
	switch {
	case f.lacksStatistics():
		return "all but the running statistics is there: doctor with {repair} estimates them over {data}"
	case f.otherWidths():
		return "it has other widths" + from
	case f.otherLayers():
		return "it has other layers" + from
	case len(f.unused) == 0 || len(f.missing) > 0:
		return ""
	}
	return fmt.Sprintf("if no layer needs them, leave them out: {drop} '%s'", f.unused[0].Name)
}

// lacksStatistics reports whether only running statistics are missing.
func (f fit) lacksStatistics() bool {
	return len(f.missing) > 0 && len(f.unused) == 0 && !slices.ContainsFunc(f.missing, func(name string) bool {
		return !strings.Contains(name, ".running_mean ") && !strings.Contains(name, ".running_var ")
	})
}

// otherWidths reports whether the file seems to be of a network with other widths: more
// tensors have a parameter's name with another shape than fit.
func (f fit) otherWidths() bool {
	missing := map[string]bool{}
	for _, name := range f.missing {
		name, _, _ = strings.Cut(name, " ")
		missing[name] = true
	}
	n := 0
	for _, t := range f.unused {
		if missing[t.Name] {
			n++
		}
	}
	return n > f.used
}

// otherLayers reports whether tensors in left seem to come from additional or different
// layers, of kinds that the network has. At least two tensors, and more than half of left,
// must be named like parameters of the network except for the numbers.
func (f fit) otherLayers() bool { return f.alike > 1 && 2*f.alike > len(f.unused) }

// arranged returns the tensors of a file in the layout of bnctl's graphs. Tensors of
// TensorFlow and Keras are transposed if this is possible for the model m.
func arranged(f *File, m *models.Model) (*File, error) {
	var turned []Tensor
	switch {
	case strings.HasPrefix(f.Format, "tensorflow"):
		turned = foreign.ChannelsFirst(f.Tensors)
	case strings.HasPrefix(f.Format, "keras"):
		turned = keras.GraphTensors(f.Tensors)
	default:
		lines := models.LineKernels(m.Graph)
		if len(lines) == 0 {
			return f, nil
		}
		return &File{Tensors: withHeight(f.Tensors, lines), Format: f.Format}, nil
	}
	return &File{Tensors: turned}, checkFlattened(m)
}

// withHeight inserts a height of 1 into the kernels of 1-D convolutions: [O,I,K] becomes
// [O,I,1,K], which bnctl's graphs have.
func withHeight(tensors []Tensor, lines map[string]bool) []Tensor {
	tensors = slices.Clone(tensors)
	for i, t := range tensors {
		for name := range lines {
			if len(t.Shape) == 3 && strings.HasSuffix(t.Name, name) {
				tensors[i] = t.Reshaped(t.Shape[0], t.Shape[1], 1, t.Shape[2])
			}
		}
	}
	return tensors
}

// checkFlattened rejects a model with a dense layer that reads a flattened (C, H, W) value:
// TensorFlow's columns are in the order (H, W, C).
func checkFlattened(m *models.Model) error {
	f := m.Graph.Main
	makers := f.Makers()
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.Dense {
			continue
		}
		flat := makers[n.In[0]]
		if flat == nil || flat.Op != graph.Reshape {
			continue
		}
		before := makers[flat.In[0]]
		s := f.Values[flat.In[0]].Type.Shape
		if len(s) == 3 && s[0] > 1 && s[1]*s[2] > 1 && (before == nil || before.Op != graph.Transpose) {
			return problem.Advise("put transpose(perm=[1,2,0]) before the reshape", "model %s: %s reads %v laid "+
				"out flat, whose order in the file is height, width, channel", m.Architecture, f.NodeName(n), s)
		}
	}
	return nil
}

func join(names []string) string { return strings.Join(names, ", ") }
