package parallel

import "github.com/bnctl/bnctl/parallel/step"

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
