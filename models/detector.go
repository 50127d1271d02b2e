package models

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// DetectedClasses returns the number of classes of a detector with a graph.BoxForm. The last rows
// of its output are the classes. ok is false for other models.
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

// findBoxes finds the layers that predict classes: they make the last rows of each feature
// map, before the maps are joined.
func (h *head) findBoxes(cells *graph.Node) error {
	if cells == nil || cells.Op != graph.Concat {
		return fmt.Errorf("output %s joins no maps", h.form)
	}
	for _, v := range cells.In {
		rows := h.maker(v)
		if rows != nil && rows.Op == graph.Reshape {
			rows.Attrs = rows.Attrs.With("shape", []int{h.classes + h.form.Fields(), rows.Ints("shape")[1]})
			rows = h.maker(rows.In[0])
		}
		if rows == nil || rows.Op != graph.Concat {
			return fmt.Errorf("output %s does not join boxes and classes of maps", h.form)
		}
		if err := h.trace(h.anchored(rows.In[len(rows.In)-1])); err != nil {
			return err
		}
	}
	return nil
}

// anchored returns the feature map [A*R, H, W] that net.anchored has turned into columns
// for the slots of A anchors. On the way it sets the shapes for the new number of classes.
// It returns other values unchanged.
func (h *head) anchored(v graph.Value) graph.Value {
	flat := h.maker(v)
	if flat == nil || flat.Op != graph.Reshape {
		return v
	}
	turned := h.maker(flat.In[0])
	if turned == nil || turned.Op != graph.Transpose {
		return v
	}
	split := h.maker(turned.In[0])
	if split == nil || split.Op != graph.Reshape {
		return v
	}
	shape := split.Ints("shape")
	rows := shape[1] + h.classes - h.oldClasses
	split.Attrs = split.Attrs.With("shape", []int{shape[0], rows, shape[2]})
	flat.Attrs = flat.Attrs.With("shape", []int{rows, flat.Ints("shape")[1]})
	h.outputs = shape[0] * rows
	return split.In[0]
}

// ClassesOf returns the number of classes of a network with the architecture a. The
// argument published is the first length of the last tensor in the published network, and
// length is that length in the network in question. ok is false if no number of classes
// gives length.
func (a Architecture) ClassesOf(published, length int) (classes int, ok bool) {
	background := 0
	if a.Boxes == graph.SSDForm {
		background = 1
	}
	each := published / (a.Classes + background) // anchors of a cell
	if each == 0 || published != each*(a.Classes+background) || length%each != 0 || length/each <= background {
		return 0, false
	}
	return length/each - background, true
}
