package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// DetectedClasses returns the number of classes of a detector with a graph.BoxForm: its last rows. ok is
// false for other models.
func (m *Model) DetectedClasses() (classes int, ok bool) {
	form := m.BoxForm()
	if form == "" {
		return 0, false
	}
	return m.outputType(0).Shape[0] - form.Fields(), true
}

// BoxForm returns the form of the predictions of a detector, or "" for other models.
func (m *Model) BoxForm() graph.BoxForm {
	if m.outputType(0).DType != tensor.F32 {
		return ""
	}
	return m.Graph.Main.BoxForm()
}

// Classes returns the number of classes of the first output: its first axis, or DetectedClasses.
func (m *Model) Classes() int {
	if n, ok := m.DetectedClasses(); ok {
		return n
	}
	if s := m.outputType(0).Shape; len(s) > 0 {
		return s[0]
	}
	return 0
}

// findBoxes finds the predictions of classes: the last rows of each map, before the slots of all maps
// are joined.
func (h *head) findBoxes(cells *graph.Node) error {
	if cells == nil || cells.Op != graph.Concat {
		return fmt.Errorf("output %s joins no maps", h.form)
	}
	for _, v := range cells.In {
		flat := h.maker(v)
		if flat == nil || flat.Op != graph.Reshape {
			return fmt.Errorf("output %s joins other values than maps", h.form)
		}
		rows := h.maker(flat.In[0])
		if rows == nil || rows.Op != graph.Concat {
			return fmt.Errorf("%s (%v) does not join boxes and classes", h.f.NodeName(flat), flat.Op)
		}
		flat.Attrs = flat.Attrs.With("shape", []int{h.classes + h.form.Fields(), flat.Ints("shape")[1]})
		if err := h.trace(rows.In[len(rows.In)-1]); err != nil {
			return err
		}
	}
	return nil
}
