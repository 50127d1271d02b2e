package server

import (
	"slices"

	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// mostBoxes is the maximum number of boxes for a row of a batch.
var mostBoxes = detect.Default.Most

// boxOutputs are outputs that a detector has in addition to the outputs of its network. An inference request
// that names one of them gets it, unless the network itself has an output with that name. Boxes are sorted by
// score, and in pixels of the input. Entries beyond the number of boxes are padding: boxes and scores of 0,
// and labels of -1.
var boxOutputs = []signature{
	{"boxes", protocol.Datatype(tensor.F32), []int{-1, mostBoxes, 4}}, // x1, y1, x2, y2
	{"scores", protocol.Datatype(tensor.F32), []int{-1, mostBoxes}},
	{"labels", protocol.Datatype(tensor.I32), []int{-1, mostBoxes}}, // index of the class
	{"count", protocol.Datatype(tensor.I32), []int{-1, 1}},
}

// boxOutput returns the number of the output name of boxOutputs. These are numbered after the outputs of the
// network. It returns -1 if boxOutputs does not have the name, or if the model is not a detector.
func (s *modelVersion) boxOutput(name string) int {
	i := slices.IndexFunc(boxOutputs, func(o signature) bool { return o.Name == name })
	if i < 0 || !detect.Detects(s.model) {
		return -1
	}
	return len(s.outputs) + i
}

// signatureOfOutput returns the signature of an output of the network, or of boxOutputs, which are numbered
// after them.
func (s *modelVersion) signatureOfOutput(number int) signature {
	if number >= len(s.outputs) {
		return boxOutputs[number-len(s.outputs)]
	}
	return s.outputs[number]
}

// findsBoxes reports whether the devices return the boxes for a request, and no outputs of the network.
func (s *modelVersion) findsBoxes(r *protocol.Request, wanted []requestedOutput) bool {
	return s.onDevice && (r.Found || !slices.ContainsFunc(wanted, func(w requestedOutput) bool {
		return w.number < len(s.outputs)
	}))
}

// limits returns the limits for the boxes of a request, a row for each row of the request. It returns the
// zero tensor if the request needs outputs of the network, or if the devices do not compute boxes.
func (s *modelVersion) limits(r *protocol.Request, wanted []requestedOutput, rows int) (
	tensor.Tensor, error) {
	if !s.findsBoxes(r, wanted) {
		return tensor.Tensor{}, nil
	}
	d, err := s.detects(func(name string) string { return r.Limits[name] })
	if err != nil {
		return tensor.Tensor{}, err
	}
	return d.LimitRows(rows), nil
}

// withBoxes appends boxOutputs to the outputs of the network if a request names one of them. outs may be the
// boxes that the devices have returned, in place of the outputs of the network.
func (s *modelVersion) withBoxes(r *protocol.Request, wanted []requestedOutput, outs []tensor.Tensor,
	rows int) ([]tensor.Tensor, error) {
	if !slices.ContainsFunc(wanted, func(w requestedOutput) bool { return w.number >= len(s.outputs) }) {
		return outs, nil
	}
	d, err := s.detects(func(name string) string { return r.Limits[name] })
	if err != nil {
		return nil, err
	}
	boxes, scores := tensor.New(tensor.F32, rows, mostBoxes, 4), tensor.New(tensor.F32, rows, mostBoxes)
	labels, count := tensor.New(tensor.I32, rows, mostBoxes), tensor.New(tensor.I32, rows, 1)
	for i := range labels.I32() {
		labels.I32()[i] = -1
	}
	height, width := d.InputSize()
	for i := range rows {
		row := make([]tensor.Tensor, len(outs))
		for k, o := range outs {
			row[k] = o.Rows(i, i+1)
			row[k].Shape = row[k].Shape[1:]
		}
		found, err := d.Boxes(row, height, width)
		if err != nil {
			return nil, noClass(err)
		}
		found = found[:min(len(found), mostBoxes)]
		count.I32()[i] = int32(len(found))
		for k, b := range found {
			at := i*mostBoxes + k
			for c, v := range b.Corners {
				boxes.F32()[4*at+c] = float32(v)
			}
			scores.F32()[at], labels.I32()[at] = b.Score, int32(b.Index)
		}
	}
	all := make([]tensor.Tensor, len(s.outputs), len(s.outputs)+len(boxOutputs))
	copy(all, outs)
	return append(all, boxes, scores, labels, count), nil
}
