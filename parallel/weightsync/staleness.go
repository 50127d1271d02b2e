package weightsync

import "slices"

// Waiting[k] is due k+1 steps from now. Every step applies the first element and moves the rest one
// place forward.

// Staleness counts the gradients of a StaleGradients: one for each replica and step.
type Staleness struct {
	Applied int64 `json:"applied"` // gradients applied so far
	Waited  int64 `json:"waited"`  // total number of steps that these have waited
	// Waiting counts the gradients that are due 1, 2, ... steps from now.
	Waiting []Due `json:"waiting"`
}

// Due is the number of gradients that are due in one step, and the total number of steps
// that they will have waited by then.
type Due struct {
	Count int64 `json:"count"`
	Steps int64 `json:"steps"`
}

// Left returns the number of waiting gradients. Gradients that still wait when a run ends
// are never applied: its last step is the last update.
func (l Staleness) Left() int64 {
	var n int64
	for _, d := range l.Waiting {
		n += d.Count
	}
	return n
}

// next returns the counts after a step with gradients that have these delays.
func (l Staleness) next(delays []int) Staleness {
	due := append(slices.Clone(l.Waiting), Due{}) // the first element is the step itself
	for _, d := range delays {
		due[d].Count++
		due[d].Steps += int64(d)
	}
	return Staleness{l.Applied + due[0].Count, l.Waited + due[0].Steps, due[1:]}
}
