package train

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/parallel"
)

// A step without a label that counts has no mean loss. It is left out without trace:
// weights, averages, statistics and the optimizer stay unchanged, and the run continues
// with the next batch. With separate weights this holds for each replica
// (weightsync.LocalSGD). Late gradients are applied in such a step as in any other.

// leaveOut reports whether a step is left out, and counts it.
func (s *Session) leaveOut(b *data.Batch, batch parallel.Batch, sl parallel.Slices, log *meter) bool {
	if batch.Inverse != 0 {
		return false
	}
	s.trainer.progress.LeftOut++
	if _, together := s.trainer.weights.(allReduceWeights); !together {
		return false
	}
	s.trainer.count(b, sl, parallel.Result{})
	s.plan.watched(Moment{Step: s.trainer.progress.Step})
	s.logIfDue(log)
	return true
}
