package format

import (
	"slices"

	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// alike checks that outputs have the same shape for all inputs, as arrays and tables require. The boxes
// of a detector have a different shape for each picture.
type alike struct{ first []tensor.Tensor }

// check returns an error if the outputs for an input do not have the same shapes as those for the first
// input.
func (c *alike) check(a *predict.Answers, input string, outs []tensor.Tensor) error {
	if c.first == nil {
		for _, t := range outs {
			c.first = append(c.first, tensor.Tensor{DType: t.DType, Shape: slices.Clone(t.Shape)})
		}
	}
	for _, k := range a.Chosen {
		if !slices.Equal(outs[k].Shape, c.first[k].Shape) {
			return problem.Advise("write JSON instead, or give one input at a time",
				"%s: output %s is %v, and %v for the first input, so that they are not rows of one array", input,
				a.Name(k), outs[k], c.first[k])
		}
	}
	return nil
}
