package server

import (
	"context"
	"errors"
	"slices"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/internal/batching"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// admit returns an error if the model of a request does not exist or has a full queue. It must be cheap,
// because under overload most requests are refused here.
func (s *Server) admit(r *record, name, version string) error {
	m, err := s.find(name, version)
	if err == nil && m.queue.Full() {
		r.refused = m
		err = refusal(batching.Full)
	}
	return err
}

// infer answers a request with one version of a model. read parses the request for that version.
func (s *Server) infer(ctx context.Context, name, version string,
	read func(*modelVersion) (*protocol.Request, error)) (*protocol.Answer, error) {
	ctx, stop := context.WithTimeout(ctx, s.o.Timeout)
	defer stop()
	for was := (*modelVersion)(nil); ; {
		m, err := s.find(name, version)
		if err != nil {
			return nil, err
		}
		if m == was {
			return nil, unavailable("the server is going away")
		}
		r, err := read(m)
		if err != nil {
			return nil, err
		}
		a, err := m.infer(ctx, r)
		if !errors.Is(err, batching.Closed) {
			return a, refusal(err)
		}
		was = m // the version was closed and replaced while the request waited: ask the new one
	}
}

// infer answers a request. The error is a *protocol.Refusal, batching.Closed, or an error of the
// devices.
func (s *modelVersion) infer(ctx context.Context, r *protocol.Request) (*protocol.Answer, error) {
	recordOf(ctx).id = r.ID
	x, err := s.rows(ctx, r)
	if err != nil {
		return nil, err
	}
	wanted, err := s.requestedOutputs(r)
	if err != nil {
		return nil, err
	}
	if err := recordOf(ctx).reservation.grow(s.answerBytes(r, x.Shape[0], wanted)); err != nil {
		return nil, err
	}
	limits, err := s.limits(r, wanted, x.Shape[0])
	if err != nil {
		return nil, err
	}
	if r.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, r.Timeout)
		defer stop()
	}
	rows := batching.Rows{X: x, Limits: limits}
	if r.Hold != nil {
		rows.Release = r.Hold()
	}
	got, err := s.queue.DoRows(ctx, rows)
	rec := recordOf(ctx)
	rec.model, rec.version = s.name, s.label()
	if err != nil {
		return nil, err
	}
	rec.rows, rec.queued, rec.computed = x.Shape[0], got.Queued, got.Computed
	a := &protocol.Answer{Model: s.name, Version: s.label(), ID: r.ID,
		Parameters: map[string]string{"sha256": s.sha256}}
	outs := got.Outputs
	if limits.Shape == nil {
		if outs, err = s.model.FileOutputs(outs); err != nil {
			return nil, invalid("%v", err)
		}
	} else if r.Found {
		wanted = []requestedOutput{{protocol.Output{Name: boxOutputs[0].Name}, 0}}
	}
	if outs, err = s.withBoxes(r, wanted, outs, x.Shape[0]); err != nil {
		return nil, err
	}
	for _, w := range wanted {
		t, err := s.output(w, outs, r.Binary)
		if err != nil {
			return nil, err
		}
		a.Outputs = append(a.Outputs, t)
	}
	return a, nil
}

// jsonNumberBytes is the memory that encoding a number as JSON needs: for its characters, in a slice that
// grows by doubling, and for a copy of the slice.
const jsonNumberBytes = 40

// openElements is the number of elements that is assumed when memory is reserved for an output without a
// fixed length.
const openElements = 1 << 16

// answerBytes returns the memory for the response to a number of rows: for all outputs in the form in which
// the devices return them, and for the text of outputs in JSON.
func (s *modelVersion) answerBytes(r *protocol.Request, rows int, wanted []requestedOutput) (n int64) {
	elements := func(o signature) int64 {
		if slices.Contains(o.Shape[1:], -1) {
			return int64(rows) * openElements
		}
		return int64(rows) * int64(tensor.Count(o.Shape[1:]))
	}
	outputs := s.model.Outputs()
	if s.findsBoxes(r, wanted) {
		n, outputs = int64(rows*detect.Elements(mostBoxes)*tensor.F32.Size()), nil
	}
	for i, o := range outputs {
		n += elements(s.outputs[i]) * int64(max(o.Type.DType.Size(), tensor.F32.Size()))
	}
	for _, w := range wanted {
		if w.number >= len(s.outputs) {
			n += elements(s.signatureOfOutput(w.number)) * int64(tensor.F32.Size())
		}
		if binary := w.Binary; binary == nil && !r.Binary || binary != nil && !*binary {
			n += elements(s.signatureOfOutput(w.number)) * jsonNumberBytes
		}
	}
	return n
}

// rows returns the input of the graph. This is the only input of the request, which must match the input of
// the model. For a model with several inputs it is all inputs, packed into one tensor.
func (s *modelVersion) rows(ctx context.Context, r *protocol.Request) (tensor.Tensor, error) {
	if s.model.Fields != nil {
		return s.packed(ctx, r)
	}
	if len(r.Inputs) != 1 {
		return tensor.Tensor{}, invalid("the request has %s; model %s needs one, %s",
			problem.Plural(len(r.Inputs), "input"), s.name, s.input.Name)
	}
	in := &r.Inputs[0]
	refuse := func(what string, got any) error {
		return invalid("input %.80q: %s %v; model %s needs %s, %s of shape %v", in.Name, what, got,
			s.name, s.input.Name, s.input.Datatype, s.input.Shape)
	}
	switch {
	case in.Name != s.input.Name:
		return tensor.Tensor{}, refuse("there is no", "such input")
	case in.Datatype != s.input.Datatype && s.model.Preprocess.Known && s.model.Input().DType == tensor.U8:
		return tensor.Tensor{}, refuse("the model normalises pixels itself; datatype", in.Datatype)
	case in.Datatype != s.input.Datatype:
		return tensor.Tensor{}, refuse("datatype", in.Datatype)
	case len(in.Shape) == 0 || in.Shape[0] < 1 || !slices.Equal(in.Shape[1:], s.input.Shape[1:]):
		return tensor.Tensor{}, refuse("shape", in.Shape)
	}
	return in.Tensor()
}

// requestedOutput is an output that a request names; number is its index.
type requestedOutput struct {
	protocol.Output
	number int
}

// requestedOutputs returns the outputs that a request names, or all outputs if it names none.
func (s *modelVersion) requestedOutputs(r *protocol.Request) (list []requestedOutput, err error) {
	if len(r.Outputs) == 0 {
		for i, o := range s.outputs {
			list = append(list, requestedOutput{protocol.Output{Name: o.Name}, i})
		}
		return list, nil
	}
	for _, o := range r.Outputs {
		i := slices.IndexFunc(s.outputs, func(known signature) bool { return known.Name == o.Name })
		if i < 0 {
			i = s.boxOutput(o.Name)
		}
		if i < 0 {
			return nil, invalid("model %s has no output %.80q", s.name, o.Name)
		}
		if slices.ContainsFunc(list, func(w requestedOutput) bool { return w.number == i }) {
			return nil, invalid("output %.80q is asked for twice", o.Name)
		}
		list = append(list, requestedOutput{o, i})
	}
	return list, nil
}

// output returns an output in the form that the request asks for.
func (s *modelVersion) output(w requestedOutput, outs []tensor.Tensor, binary bool) (
	*protocol.Tensor, error) {
	if w.Binary != nil {
		binary = *w.Binary
	}
	v := outs[w.number]
	t := &protocol.Tensor{Name: w.Name, Datatype: protocol.Datatype(v.DType), Shape: v.Shape, Values: v,
		Binary: binary}
	if w.Classes == 0 {
		return t, nil
	}
	if v.DType != tensor.F32 || len(v.Shape) != 2 || w.number >= len(s.outputs) {
		return nil, invalid("output %.80q is %s of shape %v, not one number for each class",
			w.Name, t.Datatype, v.Shape)
	}
	t.Datatype, t.Shape = protocol.Bytes, []int{v.Shape[0], min(w.Classes, v.Shape[1])}
	for i := range v.Shape[0] {
		row := v.Rows(i, i+1).F32()
		if !models.HasArgmax(row) {
			return nil, noClass(&predict.NotFinite{Output: w.Name})
		}
		t.Strings = append(t.Strings, protocol.Best(row, w.Classes, func(k int) string {
			return predict.Label(s.model, k)
		})...)
	}
	return t, nil
}
