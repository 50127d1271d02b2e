package models

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Layout is the form in which the outputs of another program's detector hold boxes. A is the number of
// cells of 8, 16 and 32 pixels of the input, and C the number of classes.
type Layout string

// The layouts. Package objects/detect reads them.
const (
	NoLayout Layout = ""
	YOLOv8   Layout = "yolov8" // [4+C, A]: centre and size in pixels, probabilities; Ultralytics v8 to v11
	YOLOv5   Layout = "yolov5" // [3A, 5+C]: centre and size in pixels, probabilities of an object and of classes
	YOLOX    Layout = "yolox"  // [A, 5+C]: offsets and logarithms, probabilities of an object and of classes
	// YOLOXDecoded has [A, 5+C] with the fields of YOLOv5.
	YOLOXDecoded Layout = "yolox-decoded"
	// SSD has the outputs [N, 4] with corners as fractions of the input, and [N, C] with probabilities,
	// the background first.
	SSD Layout = "ssd"
	// Suppressed has the outputs [K, 4] with corners in pixels, [K] with scores and [K] with classes,
	// all from a Tail: torchvision's detectors.
	Suppressed Layout = "suppressed"
	// Unread is the choice of a user that the outputs are not read as boxes.
	Unread Layout = "none"
)

// BoxLayout returns the layout of the outputs of another program's model. WithBoxes may
// have set it. Otherwise the shapes of the outputs and the nodes that make them decide, and
// for SSD also the names of the outputs.
func (m *Model) BoxLayout() Layout {
	switch m.boxes {
	case NoLayout:
		return m.recognisedLayout()
	case Unread:
		return NoLayout
	}
	return m.boxes
}

func (m *Model) recognisedLayout() Layout {
	height, width := m.PictureSides()
	outs := m.Outputs()
	if _, native := m.DetectedClasses(); native || height == 0 {
		return NoLayout
	}
	if m.Tail != nil {
		if _, ok := findSuppressed(outs, true); ok {
			return Suppressed
		}
		return NoLayout
	}
	if boxes, scores := namedSSD(outs); len(outs) == 2 && isSSD(outs, boxes, scores) {
		return SSD
	}
	s := outs[0].Type.Shape
	if len(outs) != 1 || outs[0].Type.DType != tensor.F32 || len(s) != 2 || height%32 != 0 || width%32 != 0 {
		return NoLayout
	}
	const minClasses, maxClasses = 1, 4000
	isRows := func(n, fields int) bool { return n >= fields+minClasses && n <= fields+maxClasses }
	if !m.endsInSigmoid() {
		return NoLayout // logits, or boxes in another form
	}
	cells := cellsOf(height, width)
	switch {
	case s[1] == cells && isRows(s[0], 4):
		return YOLOv8
	case s[0] == 3*cells && isRows(s[1], 5):
		return YOLOv5
	case s[0] == cells && isRows(s[1], 5) && m.has(graph.Exp):
		return YOLOXDecoded
	case s[0] == cells && isRows(s[1], 5):
		return YOLOX
	}
	return NoLayout
}

// cellsOf returns the number of cells of 8, 16 and 32 pixels.
func cellsOf(height, width int) int { return height * width / 1024 * (16 + 4 + 1) }

// endsInSigmoid reports whether some elements of the first output come from a sigmoid, only
// through nodes that move or join elements.
func (m *Model) endsInSigmoid() bool {
	makers, seen := m.Graph.Main.Makers(), map[graph.Value]bool{}
	var ends func(v graph.Value) bool
	ends = func(v graph.Value) bool {
		n := makers[v]
		if n == nil || seen[v] {
			return false
		}
		seen[v] = true
		switch n.Op {
		case graph.Sigmoid:
			return true
		case graph.Concat, graph.Reshape, graph.Transpose, graph.Slice:
			return slices.ContainsFunc(n.In, ends)
		}
		return false
	}
	return ends(m.Graph.Main.Outputs[0].Value)
}

func (m *Model) has(op graph.Op) bool {
	return slices.ContainsFunc(m.Graph.Main.Nodes, func(n graph.Node) bool { return n.Op == op })
}

// PictureSides returns the height and width of a model with one picture as its input, and 0 for others.
func (m *Model) PictureSides() (height, width int) {
	t := m.Input()
	if len(t.Shape) != 3 || m.Fields != nil {
		return 0, 0
	}
	if t.DType == tensor.U8 {
		return t.Shape[0], t.Shape[1]
	}
	return t.Shape[1], t.Shape[2]
}

// isSSD reports whether two outputs have the types of SSD's.
func isSSD(outs []OutputInfo, boxes, scores int) bool {
	if boxes < 0 || scores < 0 || boxes == scores {
		return false
	}
	b, s := outs[boxes].Type, outs[scores].Type
	return b.DType == tensor.F32 && s.DType == tensor.F32 && len(b.Shape) == 2 && len(s.Shape) == 2 &&
		b.Shape[1] == 4 && b.Shape[0] == s.Shape[0] && s.Shape[1] > 1
}

// namedSSD returns the numbers of the outputs of SSD by their names; -1 for a missing one.
func namedSSD(outs []OutputInfo) (boxes, scores int) {
	boxes, scores = -1, -1
	for i, o := range outs {
		switch name := strings.ToLower(o.Name); {
		case strings.Contains(name, "box"):
			boxes = i
		case strings.Contains(name, "score") || strings.Contains(name, "conf"):
			scores = i
		}
	}
	return boxes, scores
}

// FindSSD returns the numbers of the outputs of SSD. It finds them by their names. Without
// these names it returns the first two outputs with fitting types.
func FindSSD(outs []OutputInfo) (boxes, scores int, ok bool) {
	if boxes, scores = namedSSD(outs); isSSD(outs, boxes, scores) {
		return boxes, scores, true
	}
	for boxes = range outs {
		for scores = range outs {
			if isSSD(outs, boxes, scores) {
				return boxes, scores, true
			}
		}
	}
	return 0, 0, false
}

// FindSuppressed returns the numbers of the boxes, scores and classes among the outputs of Suppressed.
func (m *Model) FindSuppressed() (boxes, scores, classes int) {
	at, _ := findSuppressed(m.Outputs(), m.boxes == NoLayout)
	return at[0], at[1], at[2]
}

// findSuppressed finds the outputs of Suppressed. If open is set, it accepts only outputs of any length.
func findSuppressed(outs []OutputInfo, open bool) (indices [3]int, ok bool) {
	indices = [3]int{-1, -1, -1}
	for i, o := range outs {
		switch k := suppressedKind(o.Type, open); {
		case k >= 0 && indices[k] < 0:
			indices[k] = i
		case k >= 0:
			return indices, false
		}
	}
	return indices, len(outs) == 3 && indices[0] >= 0 && indices[1] >= 0 && indices[2] >= 0
}

// suppressedKind returns 0 for boxes, 1 for scores, 2 for classes and -1 for other types.
func suppressedKind(t graph.Type, open bool) int {
	fits := len(t.Shape) > 0 && (!open || t.Shape[0] == -1)
	switch {
	case fits && len(t.Shape) == 2 && t.Shape[1] == 4 && t.DType == tensor.F32:
		return 0
	case fits && len(t.Shape) == 1 && t.DType == tensor.F32:
		return 1
	case fits && len(t.Shape) == 1 && t.DType == tensor.I64:
		return 2
	}
	return -1
}
