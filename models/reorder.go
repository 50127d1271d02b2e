package models

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// PermutationByLabel returns, for each row of a new head, its row in the old head. oldLabels has the labels
// of the old rows, and newLabels those of the first new rows. A label keeps its old row. A new label gets
// the old row with its index, unless another label keeps that row; then it gets the first row that is left.
// The rows of removed labels follow.
func PermutationByLabel(oldLabels, newLabels []string) []int {
	from, taken := make([]int, len(oldLabels)), make([]bool, len(oldLabels))
	for i := range from {
		from[i] = -1
		if i >= len(newLabels) {
			continue
		}
		if k := slices.Index(oldLabels, newLabels[i]); k >= 0 && !taken[k] {
			from[i], taken[k] = k, true
		}
	}
	for i := range from {
		if from[i] < 0 && !taken[i] && i < len(newLabels) {
			from[i], taken[i] = i, true
		}
	}
	for i := range from {
		if from[i] < 0 {
			from[i] = slices.Index(taken, false)
			taken[from[i]] = true
		}
	}
	return from
}

// HeadState returns the names of the tensors of a model's head and of its auxiliary head.
// Their first axis is the axis of classes. It is an error if the first output does not come
// from a head.
func HeadState(m *Model) ([]string, error) {
	f := m.Graph.Main.Clone()
	h := &head{f: f}
	if s := m.outputType(0).Shape; len(s) > 0 {
		h.oldClasses, h.classes = s[0], s[0]
	}
	for i, o := range f.Outputs {
		if i > 0 && !graph.IsAuxiliary(o.Name) {
			continue
		}
		if err := h.trace(o.Value); err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Architecture, err)
		}
	}
	return h.state, nil
}

// PermuteRows moves the rows of m's head in m's state: row i becomes the former row oldRow[i].
func PermuteRows(m *Model, oldRow []int) error {
	names, err := HeadState(m)
	if err != nil {
		return err
	}
	for _, name := range names {
		t := m.State[name]
		moved := tensor.New(t.DType, t.Shape...)
		row := len(t.Bytes) / len(oldRow)
		for i, k := range oldRow {
			copy(moved.Bytes[i*row:(i+1)*row], t.Bytes[k*row:])
		}
		m.State[name] = moved
	}
	return nil
}
