package cpu

// scratch is what a worker keeps for convolutions from task to task, so that
// nothing is allocated in a step.
type scratch struct {
	tiles tiles
	// segments are what a gradient by pairs adds together, calls the lines of a call.
	segments []segment
	calls    [][2]int32
}

// scratchOf returns the worker's own.
func scratchOf(w *worker) *scratch {
	s, ok := w.own.(*scratch)
	if !ok {
		s = &scratch{}
		w.own = s
	}
	return s
}
