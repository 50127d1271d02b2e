package parallel

import (
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Outputs of kind whole are equal on all members, and the first member's is used. Outputs of
// kind replica are joined in the order of replicas, which is the order of members:
//
//	member 0   moments of r0, r1        Result.Moments[layer]   r0 r1 r2
//	member 1   moments of r2

// Result is the result of a step.
type Result struct {
	Loss    float64         // sum of cross-entropies, or of other losses, over the batch
	Correct float64         // labels met
	Counted float64         // labels that are not ignored
	Moments []tensor.Tensor // per tracked batch norm, in graph order: f64 [R, 1+2C]
	// Gradients are the gradients of the trained tensors, f32 [R, ...], if Loss.PerReplica
	// is set.
	Gradients []tensor.Tensor
	Timing    Timing
	// Stop means that the context of some rank has ended. With peers the step is still
	// completed: all ranks stop after the same step.
	Stop bool
	// Ranks is the work of each rank; nil without peers.
	Ranks []RankStats
}

// resultOf joins the members' outputs: whole outputs are the same on all members, and
// replica outputs follow each other in replica order.
func resultOf(f *graph.Function, outs []device.Outcome, t Timing) Result {
	r := Result{Timing: t}
	i := 0
	for _, o := range f.Outputs {
		if o.Keep {
			continue
		}
		switch whole := outs[0].Outputs[i]; {
		case o.Name == OutputLoss:
			r.Loss = lossIn(whole.F64())
		case o.Name == OutputPartnersLoss:
			r.Loss += lossIn(whole.F64())
		case o.Name == OutputHits:
			r.Correct, r.Counted = whole.F64()[0], whole.F64()[1]
		case o.Name == OutputPositives:
			r.Counted = positivesIn(whole.F64())
		case strings.HasPrefix(o.Name, gradientPrefix):
			r.Gradients = append(r.Gradients, concat(outs, i))
		default:
			r.Moments = append(r.Moments, concat(outs, i))
		}
		i++
	}
	return r
}

// lossIn returns the sum in the output OutputLoss: the value itself, or, for moments of
// elements, the sum of their means times the number of rows.
func lossIn(values []float64) float64 {
	if len(values) == 1 {
		return values[0]
	}
	sum := 0.0
	for _, mean := range values[1 : (len(values)+1)/2] {
		sum += mean
	}
	return values[0] * sum
}

// positivesIn returns the number of cells with an object in the output OutputPositives.
func positivesIn(moments []float64) float64 { return math.Round(float64(moments[0] * moments[1])) }

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
