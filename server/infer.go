package server

import (
	"context"
	"errors"
	"slices"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/internal/batching"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// admit refuses a request for a model that is not there, or in whose queue not
// even one row has room: under load most are refused, and should cost little.
func (s *Server) admit(name, version string) error {
	m, err := s.find(name, version)
	if err == nil && m.queue.Full() {
		err = refusal(batching.Full)
	}
	return err
}

// infer answers a request for a model with one version of it. read returns the
// request as that version takes it.
func (s *Server) infer(ctx context.Context, name, version string,
	read func(*served) (*protocol.Request, error)) (*protocol.Answer, error) {
	ctx, stop := context.WithTimeout(ctx, s.o.Timeout)
	defer stop()
	for was := (*served)(nil); ; {
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
		was = m // another file has taken its place
	}
}

// infer answers a request. The error is a *protocol.Refusal, batching.Closed, or
// of the devices.
func (s *served) infer(ctx context.Context, r *protocol.Request) (*protocol.Answer, error) {
	x, err := s.rows(r)
	if err != nil {
		return nil, err
	}
	wanted, err := s.wanted(r)
	if err != nil {
		return nil, err
	}
	if err := recordOf(ctx).lease.grow(s.answerTakes(r, x.Shape[0], wanted)); err != nil {
		return nil, err
	}
	if r.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, r.Timeout)
		defer stop()
	}
	got, err := s.queue.Do(ctx, x)
	rec := recordOf(ctx)
	rec.model, rec.version = s.name, s.label()
	if err != nil {
		return nil, err
	}
	rec.rows, rec.queued, rec.computed = x.Shape[0], got.Queued, got.Ran
	a := &protocol.Answer{Model: s.name, Version: s.label(), ID: r.ID,
		Says: map[string]string{"sha256": s.sha256}}
	for _, w := range wanted {
		t, err := s.output(w, got.Outputs, r.Binary)
		if err != nil {
			return nil, err
		}
		a.Outputs = append(a.Outputs, t)
	}
	return a, nil
}

// inJSONTakes is how many bytes a number takes as JSON is made of it: its
// characters, in memory that doubles, and a copy.
const inJSONTakes = 40

// answerTakes returns the bytes of an answer for rows: all outputs as the devices
// give them, and those in JSON again as text.
func (s *served) answerTakes(r *protocol.Request, rows int, wanted []want) (n int64) {
	elements := func(o signature) int64 { return int64(rows) * int64(tensor.Count(o.Shape[1:])) }
	for i, t := range s.model.Graph.Main.Outputs {
		n += elements(s.outputs[i]) * int64(s.model.Graph.Main.Values[t.Value].Type.DType.Size())
	}
	for _, w := range wanted {
		if binary := w.Binary; binary == nil && !r.Binary || binary != nil && !*binary {
			n += elements(s.outputs[w.number]) * inJSONTakes
		}
	}
	return n
}

// rows returns the only input, if it is what the model takes.
func (s *served) rows(r *protocol.Request) (tensor.Tensor, error) {
	if len(r.Inputs) != 1 {
		return tensor.Tensor{}, invalid("the request has %s; model %s takes one, %s",
			problem.Counted(len(r.Inputs), "input"), s.name, s.input.Name)
	}
	in := &r.Inputs[0]
	refuse := func(what string, got any) error {
		return invalid("input %.80q: %s %v; model %s takes %s, %s of shape %v", in.Name, what, got,
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

// want is an output that is wanted, by its number.
type want struct {
	protocol.Output
	number int
}

// wanted returns the outputs that a request names, or all.
func (s *served) wanted(r *protocol.Request) (all []want, err error) {
	if len(r.Outputs) == 0 {
		for i, o := range s.outputs {
			all = append(all, want{protocol.Output{Name: o.Name}, i})
		}
		return all, nil
	}
	for _, o := range r.Outputs {
		i := slices.IndexFunc(s.outputs, func(known signature) bool { return known.Name == o.Name })
		if i < 0 {
			return nil, invalid("model %s has no output %.80q", s.name, o.Name)
		}
		if slices.ContainsFunc(all, func(w want) bool { return w.number == i }) {
			return nil, invalid("output %.80q is asked for twice", o.Name)
		}
		all = append(all, want{o, i})
	}
	return all, nil
}

// output is an output as the request wants it.
func (s *served) output(w want, outs []tensor.Tensor, binary bool) (*protocol.Tensor, error) {
	if w.Binary != nil {
		binary = *w.Binary
	}
	v := outs[w.number]
	t := &protocol.Tensor{Name: w.Name, Datatype: protocol.Datatype(v.DType), Shape: v.Shape, Values: v,
		Binary: binary}
	if w.Classes == 0 {
		return t, nil
	}
	if v.DType != tensor.F32 || len(v.Shape) != 2 {
		return nil, invalid("output %.80q is %s of shape %v, not one number for each class",
			w.Name, t.Datatype, v.Shape)
	}
	t.Datatype, t.Shape = protocol.Bytes, []int{v.Shape[0], min(w.Classes, v.Shape[1])}
	for i := range v.Shape[0] {
		row := v.Rows(i, i+1).F32()
		if !models.Decides(row) {
			return nil, noClass(&predict.NotFinite{Output: w.Name})
		}
		t.Strings = append(t.Strings, protocol.Best(row, w.Classes, func(k int) string {
			return predict.Label(s.model, k)
		})...)
	}
	return t, nil
}
