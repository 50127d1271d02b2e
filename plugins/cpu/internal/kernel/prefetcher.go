package kernel

// Prefetcher is memory that is wanted soon. A call that is given it fetches some of it
// while it computes, which changes no result, and leaves the rest.
type Prefetcher struct{ ranges []lines }

// lines are lines that begin every step bytes.
type lines struct {
	memory []byte
	step   int
}

// line is the bytes that are fetched at a time.
const line = 64

// Add adds the runs of run bytes that begin every step bytes of memory.
func (a *Prefetcher) Add(memory []byte, run, step int) {
	if run == step {
		run, step = line, line
	}
	for at := 0; at < min(run, len(memory)); at += line {
		a.ranges = append(a.ranges, lines{memory[at:], step})
	}
}

// Clear forgets all.
func (a *Prefetcher) Clear() { a.ranges = a.ranges[:0] }

// take returns the first of some cache lines to fetch and the distance between
// them, in bytes: nil and 0 if none are left.
func (a *Prefetcher) take(count int) (from *byte, step int) {
	if a == nil {
		return nil, 0
	}
	for i := range a.ranges {
		if p := &a.ranges[i]; len(p.memory) > 0 {
			from = &p.memory[0]
			p.memory = p.memory[min(count*p.step, len(p.memory)):]
			return from, p.step
		}
	}
	return nil, 0
}
