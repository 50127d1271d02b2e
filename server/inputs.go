package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// packed returns the rows of a model with several inputs, packed into one tensor. The request must contain
// each input once, all with the same number of rows.
func (s *modelVersion) packed(ctx context.Context, r *protocol.Request) (tensor.Tensor, error) {
	fields := make([]tensor.Tensor, len(s.inputs))
	bytes := int64(0)
	for i := range r.Inputs {
		in := &r.Inputs[i]
		k, err := s.inputOf(in)
		if err != nil {
			return tensor.Tensor{}, err
		}
		if fields[k].Shape != nil {
			return tensor.Tensor{}, invalid("input %.80q is given twice", in.Name)
		}
		if fields[k], err = in.Tensor(); err != nil {
			return tensor.Tensor{}, err
		}
		bytes += int64(len(fields[k].Bytes)) + 2*int64(fields[k].Count()*tensor.F32.Size())
	}
	for k, field := range fields {
		if field.Shape == nil {
			return tensor.Tensor{}, invalid("the request has %s, and input %.80q is missing; model %s takes %s",
				problem.Plural(len(r.Inputs), "input"), s.inputs[k].Name, s.name, s.listInputs())
		}
	}
	if err := recordOf(ctx).reservation.grow(bytes); err != nil {
		return tensor.Tensor{}, err
	}
	for k := range fields {
		fields[k] = fields[k].Clone() // the elements in a request may not be aligned in memory
	}
	x, err := s.model.Pack(fields)
	if err != nil {
		return x, invalid("%v", err)
	}
	return x, nil
}

// inputOf returns the number of the model's input that an input of the request belongs to.
func (s *modelVersion) inputOf(input *protocol.Input) (int, error) {
	k := slices.IndexFunc(s.inputs, func(known signature) bool { return known.Name == input.Name })
	switch {
	case k < 0:
		return 0, invalid("there is no input %.80q; model %s takes %s", input.Name, s.name, s.listInputs())
	case input.Datatype != s.inputs[k].Datatype:
		return 0, invalid("input %.80q: datatype %.80q; model %s takes %s", input.Name, input.Datatype, s.name,
			s.inputs[k])
	case len(input.Shape) == 0 || input.Shape[0] < 1 || !slices.Equal(input.Shape[1:], s.inputs[k].Shape[1:]):
		return 0, invalid("input %.80q: shape %v; model %s takes %s", input.Name, input.Shape, s.name, s.inputs[k])
	}
	return k, nil
}

// listInputs lists the inputs of the model.
func (s *modelVersion) listInputs() string {
	var all []string
	for _, in := range s.inputs {
		all = append(all, in.String())
	}
	return strings.Join(all, ", ")
}

func (s signature) String() string {
	return fmt.Sprintf("%s, %s of shape %v", s.Name, s.Datatype, s.Shape)
}
