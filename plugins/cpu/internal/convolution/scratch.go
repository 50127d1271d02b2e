package convolution

import "github.com/bnctl/bnctl/plugins/cpu/internal/run"

// Packages below know no tiles and segments, so a worker keeps them as Own, of any type.

// scratch is what a worker keeps for convolutions from task to task, so that
// nothing is allocated in a step.
type scratch struct {
	tiles tiles
	// segments are what a gradient by pairs adds together, calls the lines of a call.
	segments []segment
	calls    [][2]int32
}

// scratchOf returns the worker's own.
func scratchOf(w *run.Worker) *scratch {
	s, ok := w.Local.(*scratch)
	if !ok {
		s = &scratch{}
		w.Local = s
	}
	return s
}
