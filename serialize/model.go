package serialize

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// WriteModel writes a template and returns the SHA-256 of the file in hex. The
// same model gives the same bytes. The name of the file ends with .bnm: see CheckName.
// After an error an older file is unchanged: see WriteSummed.
func WriteModel(path string, m *models.Model) (string, error) {
	if err := CheckName(path, Template); err != nil {
		return "", err
	}
	write, err := modelWriter(m)
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return WriteSummed(path, write)
}

// EncodeModel writes to w what WriteModel writes to a file.
func EncodeModel(w io.Writer, m *models.Model) error {
	write, err := modelWriter(m)
	if err != nil {
		return err
	}
	return write(w)
}

// modelWriter returns a function that writes m as a template.
func modelWriter(m *models.Model) (func(io.Writer) error, error) {
	if err := cmp.Or(m.CheckWhole(), checkTemplate(m)); err != nil {
		return nil, err
	}
	h := &header{Architecture: m.Architecture, Graph: string(m.Graph.Text()), Preprocess: m.Preprocess,
		Labels: listOf(m.Labels), Recipe: string(m.Recipe), Best: m.Best,
		Int8: m.Quantised, Types: outputTypes(m.FileTypes),
		FileTensors: fileTensors(m.FileTensors), Chain: m.Chain,
		Inputs: inputFields(m.Fields), Thresholds: listOf(m.Thresholds), Float: string(m.Float)}
	return container(Template, h, declaredTensors(m.Graph.State, m.State))
}

// ReadModel returns the template in a file. The caller may change its tensors.
func ReadModel(path string) (*models.Model, error) { return ownModel(Open(path)) }

// ParseModel does the same as ReadModel for a file in memory. Errors refer to the file by name.
func ParseModel(name string, b []byte) (*models.Model, error) { return ownModel(parse(name, b)) }

// ownModel copies the template out of a file, and closes it.
func ownModel(f *File, err error) (*models.Model, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	err = f.copied(func() { m = m.Clone() })
	return m, err
}

// model builds a template from a verified file.
func (h *header) model(tensors []named) (*models.Model, error) {
	g, err := graph.ParseGraph([]byte(h.Graph))
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	recipe, err := toJSON(h.Recipe, "recipe")
	if err != nil {
		return nil, err
	}
	types, err := h.fileTypes()
	if err != nil {
		return nil, err
	}
	fileTensors, err := h.fileTensors()
	if err != nil {
		return nil, err
	}
	fields, err := h.fields()
	if err != nil {
		return nil, err
	}
	float, err := toJSON(h.Float, "float")
	if err != nil {
		return nil, err
	}
	sets, err := bySet(tensors)
	if err != nil {
		return nil, err
	}
	if len(sets) > 1 || len(sets) == 1 && sets[""] == nil {
		return nil, fmt.Errorf("a template has sets of tensors beside its state")
	}
	m := &models.Model{Architecture: h.Architecture, Graph: g, State: sets[""], Preprocess: h.Preprocess,
		Labels: h.Labels, Recipe: recipe, Best: h.Best, Quantised: h.Int8,
		FileTypes: types, FileTensors: fileTensors, Chain: h.Chain, Fields: fields,
		Thresholds: h.Thresholds, Float: float}
	return m, checkTemplate(m)
}

// checkTemplate checks m, and that it has no replica connections.
func checkTemplate(m *models.Model) error {
	if err := m.Check(); err != nil {
		return err
	}
	if m.Chain != "" && !isSum(m.Chain) {
		return fmt.Errorf("model %s: the digest of its chain is %.80q, want 64 hexadecimal digits", m.Architecture,
			m.Chain)
	}
	if m.Best != nil {
		if err := m.Best.Check(); err != nil {
			return err
		}
	}
	if m.Quantised != nil {
		if err := m.Quantised.Check(); err != nil {
			return err
		}
	}
	for _, t := range m.FileTypes {
		if err := t.Check(); err != nil {
			return err
		}
	}
	if err := checkFileTensors(m.FileTensors); err != nil {
		return err
	}
	for i := range m.Graph.Main.Nodes {
		if n := &m.Graph.Main.Nodes[i]; n.Op == graph.Split || n.Op == graph.Gather || n.Op == graph.Track {
			return fmt.Errorf("model %s: node %s (%v) is a replica connection: a wrapped graph is no template",
				m.Architecture, m.Graph.Main.NodeName(n), n.Op)
		}
	}
	return nil
}

// isSum reports whether s is a SHA-256 in hexadecimal.
func isSum(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// declaredTensors lists the state in the order of its declarations.
func declaredTensors(table []graph.State, state map[string]tensor.Tensor) []named {
	tensors := make([]named, len(table))
	for i, s := range table {
		tensors[i] = named{name: s.Name, tensor: state[s.Name]}
	}
	return tensors
}

// bySet sorts tensors into sets; the state is the set "".
func bySet(tensors []named) (map[string]map[string]tensor.Tensor, error) {
	sets := map[string]map[string]tensor.Tensor{}
	for _, t := range tensors {
		if sets[t.set] == nil {
			sets[t.set] = map[string]tensor.Tensor{}
		}
		if _, twice := sets[t.set][t.name]; twice {
			return nil, fmt.Errorf("tensor %s is there twice", t.name)
		}
		sets[t.set][t.name] = t.tensor
	}
	return sets, nil
}
