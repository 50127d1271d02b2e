package step

import (
	"math"
	"time"

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
	Correct float64         // number of labels that were predicted correctly
	Counted float64         // number of labels that are not ignored
	Moments []tensor.Tensor // f64 [R, 1+2C] for each tracked batch norm, in graph order
	// Gradients are the gradients of the trained tensors, f32 [R, ...], if spmd.Training.PerReplica
	// is set.
	Gradients []tensor.Tensor
	Timing    Timing
	// Stop means that the context of some rank has ended. With peers the step is still
	// completed: all ranks stop after the same step.
	Stop bool
	// Ranks is the work of each rank; nil without peers.
	Ranks []RankStats
}

// Set sets the part of the result that is a whole output of the training function. It returns false if no
// whole output has that name.
func (r *Result) Set(name string, whole tensor.Tensor) bool {
	switch name {
	case OutputLoss:
		r.Loss = lossIn(whole.F64())
	case OutputPartnersLoss:
		r.Loss += lossIn(whole.F64())
	case OutputHits:
		r.Correct, r.Counted = whole.F64()[0], whole.F64()[1]
	case OutputPositives:
		r.Counted = positivesIn(whole.F64())
	default:
		return false
	}
	return true
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

// Timing is the time of a step by activity, as the mean over the devices.
type Timing struct {
	Took, Blocked time.Duration
}

// RankStats is the work of a rank in a run.
type RankStats struct {
	Rows    int           `json:"rows"`
	Waited  time.Duration `json:"waited"`  // time that the rank waited for input: Batch.Waited
	Took    time.Duration `json:"took"`    // duration of the run, as the mean over the devices of the rank
	Blocked time.Duration `json:"blocked"` // part of Took spent in exchanges
	Bytes   int64         `json:"bytes"`   // bytes sent to other ranks since the previous run
}
