package parallel

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// The data of a step, which package pipeline shares.
type (
	// Batch is the input of one step: the rows of all replicas in replica order.
	Batch = step.Batch
	// Result is the result of a step.
	Result = step.Result
	// Timing is the time of a step by activity, as the mean over the devices.
	Timing = step.Timing
	// RankStats is the work of a rank in a run.
	RankStats = step.RankStats
)

// resultOf joins the members' outputs: whole outputs are the same on all members, and
// replica outputs follow each other in replica order.
func resultOf(f *graph.Function, outs []device.Outcome, t Timing) Result {
	r := Result{Timing: t}
	i := 0
	for _, o := range f.Outputs {
		if o.Keep {
			continue
		}
		switch {
		case r.Set(o.Name, outs[0].Outputs[i]):
		case strings.HasPrefix(o.Name, gradientPrefix):
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
