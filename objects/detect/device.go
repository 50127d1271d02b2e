package detect

import (
	"maps"

	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/tensor"
)

// FindBoxes is the function of a program of WithBoxes that computes boxes.
const FindBoxes = "boxes"

// WithBoxes returns the program p, which predicts with m, with a second function: FindBoxes returns boxes, as
// the function of OnDevice does. The functions share the state.
func WithBoxes(p *graph.Program, m *models.Model, most int) (both *graph.Program,
	state map[string]tensor.Tensor, ok bool, err error) {
	both, state, ok, err = OnDevice(p, m, most)
	if !ok {
		return both, state, ok, err
	}
	both.Functions[0].Name = FindBoxes
	both.Functions = append([]*graph.Function{p.Function(graph.Predict)}, both.Functions...)
	return both, state, true, both.Check()
}

// OnDevice returns a program that predicts with a detector of the zoo and computes the boxes on the device
// (graph.Detect), and the state of this program. So only boxes are read from the device, not the predictions
// of all slots. p is the program that predicts with m, and limit is the maximum number of boxes. The program
// has a second input: see LimitRows. ok is false for models that are not detectors of the zoo.
func OnDevice(p *graph.Program, m *models.Model, limit int) (boxes *graph.Program,
	state map[string]tensor.Tensor, ok bool, err error) {
	main := p.Function(graph.Predict)
	if form := m.BoxForm(); form == "" || len(main.Outputs) != 1 {
		return nil, nil, false, nil
	}
	height, width := m.PictureSides()
	slots, err := anchors.New(m.BoxForm(), height, width)
	if err != nil || slots.Len() != m.Computed(0).Type.Shape[1] {
		return nil, nil, false, nil // New reports the reason
	}
	d := slots.Detector(limit)
	boxes = &graph.Program{Name: p.Name, State: append([]graph.State(nil), p.State...)}
	b := graph.Extend(main, &boxes.State)
	shape := []int{slots.Len(), 4}
	name := "boxes.anchors"
	for m.State[name].Shape != nil {
		name += "_"
	}
	corners := b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: graph.Constant,
		Init: graph.Init{Rule: "zeros"}})
	limits := b.Input(b.UniqueName("limits"), graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2}})
	found := b.Op(graph.Detect, b.UniqueName("boxes"), []graph.Value{main.Outputs[0].Value, limits, corners},
		"form", string(d.Form), "most", d.Most, "before", d.Before, "starts", d.Starts, "size",
		[]int{d.Height, d.Width})
	f, err := b.Function()
	if err != nil {
		return nil, nil, false, err
	}
	f.Outputs = []graph.Output{{Name: "boxes", Value: found}}
	boxes.Functions = []*graph.Function{f}
	state = maps.Clone(m.State)
	state[name] = tensor.Of(d.Anchors, shape...)
	return boxes, state, true, boxes.Check()
}

// Elements returns the number of elements of a row that FindBoxes returns.
func Elements(most int) int { return detection.Elements(most) }

// OnHost returns the result that FindBoxes of WithBoxes has for these limits, computed from predictions
// [rows, R, A] with m: a row for each row of limits.
func OnHost(m *models.Model, predictions, limits tensor.Tensor, most int) (tensor.Tensor, error) {
	height, width := m.PictureSides()
	slots, err := anchors.New(m.BoxForm(), height, width)
	if err != nil {
		return tensor.Tensor{}, err
	}
	d, rows := slots.Detector(most), limits.Shape[0]
	found := tensor.New(tensor.F32, rows, Elements(most))
	for i := range rows {
		d.Run(found.Rows(i, i+1).F32(), detection.Ordered(predictions.Rows(i, i+1).F32(), slots.Len()),
			limits.Rows(i, i+1).F32())
	}
	return found, nil
}

// LimitRows returns the second input of a program of OnDevice, [rows, 2]: the least score and the largest
// overlap of o in each row.
func LimitRows(rows int, o cells.Options) tensor.Tensor {
	t := tensor.New(tensor.F32, rows, 2)
	for i := range rows {
		copy(t.F32()[2*i:], []float32{o.Score, o.Overlap})
	}
	return t
}

// LimitRows returns LimitRows for the options of d.
func (d *Detector) LimitRows(rows int) tensor.Tensor { return LimitRows(rows, d.options) }

// found returns the boxes in a result of graph.Detect.
func (d *Detector) found(out tensor.Tensor) ([]cells.Detection, error) {
	all, ok := detection.Boxes(out.F32())
	if !ok {
		return nil, d.notFinite(0)
	}
	return all, nil
}
