package pipeline

import "fmt"

// state is the state of a call of a Trainer: see the package comment.
type state int

// These are the states, in the order of the table in the package comment.
const (
	ready state = iota
	attempting
	recovering
	concluding
	moving
	rollingBack
	replaying
	failed
)

var stateNames = []string{"ready", "attempt", "recover", "conclude", "move", "roll back", "replay", "failed"}

func (s state) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("state %d", int(s))
	}
	return stateNames[s]
}

// enter makes a transition.
func (s *Trainer) enter(next state) {
	if s.observe != nil {
		s.observe(s.state, next)
	}
	s.state = next
}

// begin begins a call. It returns the state of the enclosing call, which end needs.
func (s *Trainer) begin() (outer state) {
	outer, s.state = s.state, ready
	s.enter(attempting)
	return outer
}

// end ends a call with its error.
func (s *Trainer) end(outer state, err error) {
	switch {
	case err != nil && s.state != failed:
		s.enter(failed)
	case err == nil && s.state != ready:
		s.enter(ready)
	}
	s.state = outer
}
