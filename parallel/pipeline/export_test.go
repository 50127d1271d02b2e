package pipeline

// Observe makes a Trainer call f for every transition.
func (s *Trainer) Observe(f func(from, to string)) {
	s.observe = func(from, to state) { f(from.String(), to.String()) }
}
