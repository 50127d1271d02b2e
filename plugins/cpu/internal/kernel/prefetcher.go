package kernel

// Prefetcher lists memory that is needed soon. A call that receives a Prefetcher fetches some of this
// memory while it computes, and leaves the rest in the list. This changes no result.
type Prefetcher struct{ ranges []lines }

// lines is a range of memory. One line is fetched every step bytes.
type lines struct {
	memory []byte
	step   int
}

// line is the number of bytes that one prefetch instruction fetches.
const line = 64

// Add adds runs of memory. Each has run bytes, and they begin every step bytes.
func (a *Prefetcher) Add(memory []byte, run, step int) {
	if run == step {
		run, step = line, line
	}
	for at := 0; at < min(run, len(memory)); at += line {
		a.ranges = append(a.ranges, lines{memory[at:], step})
	}
}

// Clear removes all ranges.
func (a *Prefetcher) Clear() { a.ranges = a.ranges[:0] }

// take removes up to count cache lines to fetch, and returns the address of the first and the distance
// between them, in bytes. It returns nil and 0 if there are no more lines.
func (a *Prefetcher) take(count int) (start *byte, step int) {
	start, step, _ = a.takeSome(count)
	return start, step
}

// takeSome is like take, and also returns the number of lines that it has removed.
func (a *Prefetcher) takeSome(count int) (start *byte, step, n int) {
	if a == nil {
		return nil, 0, 0
	}
	for i := range a.ranges {
		if p := &a.ranges[i]; len(p.memory) > 0 {
			start, n = &p.memory[0], min(count, p.lines())
			p.memory = p.memory[min(n*p.step, len(p.memory)):]
			return start, p.step, n
		}
	}
	return nil, 0, 0
}

// lines returns the number of remaining lines.
func (l *lines) lines() int { return (len(l.memory) + l.step - 1) / l.step }

// Left returns the number of remaining lines in all ranges.
func (a *Prefetcher) Left() (n int) {
	if a == nil {
		return 0
	}
	for i := range a.ranges {
		n += a.ranges[i].lines()
	}
	return n
}

// Fetch prefetches up to count lines. It does nothing on processors without an instruction for that.
func (s *Set) Fetch(a *Prefetcher, count int) {
	for s.fetch != nil && count > 0 {
		from, step, n := a.takeSome(count)
		if n == 0 {
			return
		}
		s.fetch(from, step, n)
		count -= n
	}
}
