package step

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// ResultOf joins the members' outputs: whole outputs are the same on all members, and
// replica outputs follow each other in replica order.
func ResultOf(f *graph.Function, outs []device.Outcome, t Timing) Result {
	r := Result{Timing: t}
	i := 0
	for _, o := range f.Outputs {
		if o.Keep {
			continue
		}
		switch {
		case r.Set(o.Name, outs[0].Outputs[i]):
		case strings.HasPrefix(o.Name, GradientPrefix):
			r.Gradients = append(r.Gradients, concat(outs, i))
		default:
			r.Moments = append(r.Moments, concat(outs, i))
		}
		i++
	}
	return r
}

// concat joins output i of all members along its leading axis.
func concat(outs []device.Outcome, i int) tensor.Tensor {
	shape := slices.Clone(outs[0].Outputs[i].Shape)
	shape[0] = 0
	var bytes []byte
	for _, o := range outs {
		shape[0] += o.Outputs[i].Shape[0]
		bytes = append(bytes, o.Outputs[i].Bytes...)
	}
	out := tensor.New(outs[0].Outputs[i].DType, shape...)
	copy(out.Bytes, bytes)
	return out
}
