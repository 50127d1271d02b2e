package kernel

// Ahead is memory that is wanted soon. A call that is given it fetches some of it
// while it computes, which changes no result, and leaves the rest.
type Ahead [2][]byte

// take returns the first of so many lines to fetch and how far apart they are, in
// bytes: nil and 0 if none are left.
func (a *Ahead) take(lines int) (from *byte, step int) {
	const line = 64 // bytes
	if a == nil {
		return nil, 0
	}
	for i, part := range a {
		if len(part) > 0 {
			a[i] = part[min(lines*line, len(part)):]
			return &part[0], line
		}
	}
	return nil, 0
}
