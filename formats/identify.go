package formats

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Identify finds the architecture of a file's tensors in the zoo and returns its model,
// without weights. The names and shapes of all tensors must fit. The number of classes
// comes from the file. If all names share a prefix (Lightning adds one) and fit without it,
// Identify removes it from f's names.
//
// If no architecture fits, the error names the nearest one and the differences.
func Identify(f *File) (*models.Model, error) {
	var nearest fit
	name := ""
	for depth, tensors := 0, f.Tensors; ; depth++ {
		m, best, arch, err := search(&tensors)
		if err != nil {
			return nil, err
		}
		if m != nil {
			if best.renamed {
				if err := checkTimm(f, arch); err != nil {
					return nil, err
				}
				sayTimm(f, m, true)
			}
			m = owned(withEps(m, f.Eps))
			f.SetTensors(tensors)
			leaveLoose(f, m)
			sayAssumed(f, m)
			return m, nil
		}
		if name == "" || best.used > nearest.used {
			nearest, name = best, arch
		}
		shorter, prefix := dropPrefix(tensors)
		if prefix == "" || depth == maxPrefixes {
			return nil, f.Chosen(noArchitecture(f, name, nearest))
		}
		tensors = shorter
	}
}

// sayAssumed adds a finding if another architecture has the same tensor names and shapes as
// m. The finding names m's architecture, which is assumed, and the other one.
func sayAssumed(f *File, m *models.Model) {
	for _, a := range models.Architectures() {
		if a.SameAs == m.Architecture {
			f.Find("", fmt.Sprintf("taken for %s, whose stride is in the convolutions of 3x3, as in torchvision; %s "+
				"has the same names and shapes (%s)", m.Architecture, a.Name, a.About),
				"if it is that, name the architecture "+a.Name)
		}
	}
}

// noArchitecture returns an error with the differences from the nearest architecture and a
// remedy. If no architecture is near, the error lists the names of the tensors.
func noArchitecture(f *File, name string, nearest fit) error {
	detail := fmt.Sprintf("the nearest is %s: %s", name, nearest)
	advice := "name the model with {arch}, or write .pth or .safetensors, which need none"
	switch near := nearest.advice(name); {
	case nearest.used == 0:
		detail = fmt.Sprintf("they are called %s; those that no layer needs may be left out with {drop} PATTERN",
			listed(f.Tensors))
	case fused(f):
		advice = "quantisation was simulated in training (torch.ao), with batch norms inside of convolutions: " +
			"save the float model from before prepare_qat, or name an ONNX file of it with {arch}"
	case strings.Contains(near, "{drop}"):
		detail += "; " + near
	case near != "":
		advice = near
	}
	these := "its one tensor"
	if len(f.Tensors) != 1 {
		these = "these " + problem.Plural(len(f.Tensors), "tensor")
	}
	return problem.Failure("", "no architecture of the zoo fits "+these, detail+": "+advice)
}

// severalFit returns the error for several fitting architectures.
func severalFit(names []string) error {
	return problem.Failure("", "several architectures fit ("+join(names)+")", "name one with {arch}")
}

// maxPrefixes is the number of prefixes that are tried.
const maxPrefixes = 3

// search compares tensors with every architecture. If the tensors have timm's names and fit
// an architecture, search gives them the architecture's names.
func search(tensors *[]Tensor) (found *models.Model, nearest fit, name string, err error) {
	var names []string
	for _, a := range models.Architectures() {
		named, renamed := fromTimm(a.Name, *tensors)
		m, err := build(a, named)
		if err != nil {
			return nil, fit{}, "", err
		}
		if renamed {
			named = shapedFor(m, named)
		}
		got := compare(named, m)
		got.renamed = renamed
		if got.exact() && a.SameAs == "" {
			found, names = m, append(names, a.Name)
			defer func() { *tensors = named }()
		}
		if name == "" || got.used > nearest.used {
			nearest, name = got, a.Name
		}
	}
	if len(names) > 1 {
		return nil, nearest, name, severalFit(names)
	}
	return found, nearest, name, nil
}

// published caches the models of the zoo, because a file is compared with all of them.
var published sync.Map

// build returns an architecture with the number of classes of the tensors. The model is
// read-only.
func build(a models.Architecture, tensors []Tensor) (*models.Model, error) {
	if _, ok := published.Load(a.Name); !ok {
		m, err := models.Build(a.Name, models.Options{})
		if err != nil {
			return nil, err
		}
		published.Store(a.Name, m)
	}
	v, _ := published.Load(a.Name)
	m := v.(*models.Model)
	n, input := classes(m, a, tensors), a.Input
	input.Channels = inputChannels(m, input.Channels, tensors)
	if input.Channels > 0 && n >= 1 && (n != a.Classes || input != a.Input) {
		o := models.Options{Classes: n, OneOutput: n == 1}
		if input != a.Input {
			o.Input = input
		}
		if other, err := models.Build(a.Name, o); err == nil {
			return other, nil
		}
	}
	return m, nil
}

// owned returns a copy of a model that build returned. The caller may change the copy's
// graph.
func owned(m *models.Model) *models.Model {
	c := *m
	c.Graph = &graph.Graph{Name: m.Graph.Name, State: slices.Clone(m.Graph.State), Main: m.Graph.Main.Clone()}
	c.State = map[string]tensor.Tensor{}
	return &c
}

// inputChannels returns the number of channels of the model's input. It reads the number
// from the tensor with the name of m's first parameter. It returns published if the tensor
// has that parameter's shape, and 0 if the tensor is absent or not a kernel of a
// convolution.
func inputChannels(m *models.Model, published int, tensors []Tensor) int {
	first := m.Graph.State[0]
	i := slices.IndexFunc(tensors, func(t Tensor) bool { return t.Name == first.Name })
	switch {
	case i < 0:
		return 0
	case slices.Equal(tensors[i].Shape, first.Shape):
		return published
	case len(first.Shape) != 4 || len(tensors[i].Shape) != 4 || first.Shape[1] != published:
		return 0
	}
	return tensors[i].Shape[1]
}

// classes returns the number of classes: the first length of the tensor with the name of
// m's last parameter or, for YOLOX, of its last layer of classes.
func classes(m *models.Model, a models.Architecture, tensors []Tensor) int {
	last := m.Graph.State[len(m.Graph.State)-1]
	for _, s := range m.Graph.State {
		if strings.HasPrefix(s.Name, "head.cls_preds.") {
			last = s
		}
	}
	i := slices.IndexFunc(tensors, func(t Tensor) bool { return t.Name == last.Name })
	if i < 0 || len(last.Shape) == 0 || len(tensors[i].Shape) != len(last.Shape) {
		return a.Classes
	}
	if n, ok := a.ClassesOf(last.Shape[0], tensors[i].Shape[0]); ok {
		return n
	}
	return a.Classes
}

// dropPrefix removes the first component of all names if they share it. Tensors that
// clearly belong to no layer keep their names.
func dropPrefix(tensors []Tensor) (out []Tensor, prefix string) {
	for _, t := range tensors {
		if t.Loose() != "" {
			out = append(out, t)
			continue
		}
		p, rest, ok := strings.Cut(t.Name, ".")
		if !ok || p == "" || prefix != "" && p != prefix {
			return nil, ""
		}
		prefix = p
		out = append(out, t.Renamed(rest))
	}
	if foreign.CheckNames(out) != nil {
		return nil, ""
	}
	return out, prefix
}
