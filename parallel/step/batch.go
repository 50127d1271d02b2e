package step

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Rows of a batch are in the order of the replicas. A member has neighbouring replicas, so
// its share is one slice of every input:
//
//	Sizes    3     3     2     2          replicas 1 and 2 on one member:
//	rows   | 0 1 2 | 3 4 5 | 6 7 | 8 9 |  rows [3, 8), device.Step.Rows = 3, 2

// Batch is the input of one step: the rows of all replicas in replica order.
type Batch struct {
	Rows    map[string]tensor.Tensor // rows inputs of the function by name
	Inverse float32                  // 1/denominator of the loss
	Sizes   []int                    // rows of each replica
	// Inverses is 1/denominator for the rows of each replica, 0 if no row counts. Used by
	// weightsync.LocalSGD.
	Inverses []float32
	// Waited is the time that this rank waited for the batch. RankStats reports it to all
	// ranks.
	Waited time.Duration
}

// Clone returns a batch that shares nothing with b.
func (b Batch) Clone() Batch {
	rows := make(map[string]tensor.Tensor, len(b.Rows))
	for name, t := range b.Rows {
		rows[name] = t.Clone()
	}
	b.Rows = rows
	return b
}

// On returns the step of run number run with the rows of consecutive replicas of b.
func (b Batch) On(replicas []int, f *graph.Function, run uint64) device.Step {
	s := device.Step{Function: f.Name, Number: run}
	from := 0
	if len(replicas) > 0 {
		for _, n := range b.Sizes[:replicas[0]] {
			from += n
		}
		s.Rows = slices.Clone(b.Sizes[replicas[0] : replicas[0]+len(replicas)])
	}
	to := from
	for _, n := range s.Rows {
		to += n
	}
	for _, v := range f.Inputs {
		name := f.Values[v].Name
		if name == InputInverse {
			s.Inputs = append(s.Inputs, tensor.Scalar(b.Inverse))
			continue
		}
		s.Inputs = append(s.Inputs, b.Rows[name].Rows(from, to))
	}
	return s
}
