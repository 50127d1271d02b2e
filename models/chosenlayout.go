package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// layouts are the names that WithBoxes accepts.
var layouts = []Layout{YOLOv8, YOLOv5, YOLOX, YOLOXDecoded, SSD, Suppressed, Unread}

// WithBoxes returns m with the layout of its outputs, by name; "" leaves it to be recognised. The shapes
// of the outputs must fit. The error is a *problem.Error of boxes.
func WithBoxes(m *Model, name string) (*Model, error) {
	l := Layout(name)
	if l == NoLayout || m.boxes == l {
		return m, nil
	}
	if !slices.Contains(layouts, l) {
		var known []string
		for _, l := range layouts {
			known = append(known, string(l))
		}
		return nil, &problem.Error{Field: "boxes", Value: strconv.Quote(name), Known: known,
			Text: "want one of " + strings.Join(known, ", ")}
	}
	out := *m
	out.boxes = l
	if l == Unread {
		return &out, nil
	}
	if _, native := m.DetectedClasses(); native {
		return nil, problem.New("boxes", name, "the outputs of "+m.Architecture+" are known", "leave it off")
	}
	if height, width := m.PictureSides(); height == 0 || l == YOLOX && (height%32 != 0 || width%32 != 0) {
		return nil, problem.New("boxes", name, "the input is not one picture"+map[bool]string{
			true: " with sides that are multiples of 32"}[l == YOLOX], "")
	}
	if out.BoxOutput() < 0 {
		var types []string
		for _, o := range m.Outputs() {
			types = append(types, o.Name+" "+tensor.Describe(o.Type.DType, o.Type.Shape))
		}
		return nil, problem.New("boxes", name, fmt.Sprintf("the outputs have other shapes: %s, want %s",
			strings.Join(types, ", "), layoutForms[l]), "")
	}
	return &out, nil
}

// layoutForms describes the outputs of each layout.
var layoutForms = map[Layout]string{YOLOv8: "f32 [4+classes, boxes]", YOLOv5: "f32 [boxes, 5+classes]",
	YOLOX:        "f32 [boxes, 5+classes] with a box for each cell of 8, 16 and 32 pixels",
	YOLOXDecoded: "f32 [boxes, 5+classes]", SSD: "f32 [boxes, 4] and [boxes, classes]",
	Suppressed: "f32 [boxes, 4], f32 [boxes] and i64 [boxes]"}

// BoxClasses returns the number of classes of boxes in the layout of BoxLayout. It returns
// the argument unknown if the outputs have the index of each box's class instead of scores.
func (m *Model) BoxClasses(unknown int) int {
	outs, first := m.Outputs(), m.BoxOutput()
	if m.BoxLayout() == Suppressed || first < 0 {
		return unknown
	}
	shape := outs[first].Type.Shape
	switch m.BoxLayout() {
	case YOLOv8:
		return shape[0] - 4
	case SSD:
		_, scores, _ := FindSSD(outs)
		return outs[scores].Type.Shape[1] - 1
	}
	return shape[1] - 5
}

// BoxOutput returns the number of the first output that has the form of BoxLayout; -1 without one.
func (m *Model) BoxOutput() int {
	outs := m.Outputs()
	switch m.boxes {
	case NoLayout, Unread:
		return 0
	case SSD:
		at, _, ok := FindSSD(outs)
		return map[bool]int{true: at, false: -1}[ok]
	case Suppressed:
		at, ok := findSuppressed(outs, false)
		return map[bool]int{true: at[0], false: -1}[ok]
	}
	height, width := m.PictureSides()
	return slices.IndexFunc(outs, func(o OutputInfo) bool {
		s := o.Type.Shape
		if o.Type.DType != tensor.F32 || len(s) != 2 {
			return false
		}
		switch m.boxes {
		case YOLOv8:
			return s[0] > 4 && s[1] > 0
		case YOLOX:
			return s[1] > 5 && s[0] == cellsOf(height, width)
		}
		return s[1] > 5 && s[0] > 0
	})
}
