package kernel

// The functions below work element by element. All their slices are as long as the first one. They round
// every operation, so that all sets have the same bits.

// elements is the assembly for contiguous elements. It processes the elements that fill
// whole vectors of the given number of lanes.
type elements struct {
	lanes         int
	relu          func(y *float32, x *float32, count int)
	reluGradient  func(dx *float32, y *float32, dy *float32, count int)
	relu6         func(y *float32, x *float32, count int)
	relu6Gradient func(dx *float32, y *float32, dy *float32, count int)
	add           func(y *float32, a *float32, b *float32, count int)

	sgd [2][2]sgdStep // by weight decay and Nesterov's momentum; may be nil
}

// wholeVectors returns how many of n elements the assembly processes.
func (e *elements) wholeVectors(n int) int {
	if e == nil {
		return 0
	}
	return n / e.lanes * e.lanes
}

// Relu sets y to max(x, 0); NaN stays NaN. y may be x.
func (s *Set) Relu(y, x []float32) {
	x = x[:len(y)]
	n := s.elements.wholeVectors(len(y))
	if n > 0 {
		s.elements.relu(&y[0], &x[0], n)
	}
	for i, v := range x[n:] {
		if v < 0 {
			v = 0
		}
		y[n+i] = v
	}
}

// ReluGradient sets dx to dy where y > 0, else to 0. dx may be dy.
func (s *Set) ReluGradient(dx, y, dy []float32) {
	y, dy = y[:len(dx)], dy[:len(dx)]
	n := s.elements.wholeVectors(len(dx))
	if n > 0 {
		s.elements.reluGradient(&dx[0], &y[0], &dy[0], n)
	}
	for i, v := range y[n:] {
		g := dy[n+i]
		if !(v > 0) {
			g = 0
		}
		dx[n+i] = g
	}
}

// Relu6 sets y to min(max(x, 0), 6); NaN stays NaN. y may be x.
func (s *Set) Relu6(y, x []float32) {
	x = x[:len(y)]
	n := s.elements.wholeVectors(len(y))
	if n > 0 {
		s.elements.relu6(&y[0], &x[0], n)
	}
	for i, v := range x[n:] {
		switch {
		case v < 0:
			v = 0
		case v > 6:
			v = 6
		}
		y[n+i] = v
	}
}

// Relu6Gradient sets dx to dy where 0 < y < 6, else to 0. dx may be dy.
func (s *Set) Relu6Gradient(dx, y, dy []float32) {
	y, dy = y[:len(dx)], dy[:len(dx)]
	n := s.elements.wholeVectors(len(dx))
	if n > 0 {
		s.elements.relu6Gradient(&dx[0], &y[0], &dy[0], n)
	}
	for i, v := range y[n:] {
		g := dy[n+i]
		if !(v > 0 && v < 6) {
			g = 0
		}
		dx[n+i] = g
	}
}

// Add sets y to a + b. y may be a or b.
func (s *Set) Add(y, a, b []float32) {
	a, b = a[:len(y)], b[:len(y)]
	n := s.elements.wholeVectors(len(y))
	if n > 0 {
		s.elements.add(&y[0], &a[0], &b[0], n)
	}
	for i, v := range a[n:] {
		y[n+i] = v + b[n+i]
	}
}
