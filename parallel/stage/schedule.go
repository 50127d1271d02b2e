package stage

import "math"

// UnderWay returns the number of waves of stage s, counted from 0, that may be between their
// forward and backward passes. It is one for each stage from s to the last, and one more. The
// additional wave keeps the stage busy while values are on the way from stage to stage.
//
//	stage 1   F0 F1 F2    B0 F3 B1    B2    B3
//	stage 2      F0 B0 F1 B1 F2 B2 F3 B3
func UnderWay(stages, s int) int {
	if s == stages-1 {
		return 1
	}
	return stages - s + 1
}

// clock is a stage in a simulated step.
type clock struct {
	seconds           float64   // seconds of a wave
	limit             int       // waves that may be under way
	free              float64   // end of the work of the stage so far
	forward, backward []float64 // for each wave, the ends of its forward and its backward pass
}

// step returns the time of the forward and backward passes of all waves, one forward one
// backward: a stage runs the pass that can begin first, and prefers a forward pass as long
// as UnderWay permits it.
func (p *Plan) step() (ends float64) {
	stages := make([]clock, len(p.Stages))
	for s, q := range p.Stages {
		stages[s] = clock{seconds: q.Seconds, limit: UnderWay(len(stages), s)}
	}
	for range 2 * len(stages) * p.waves {
		at, begins, back := 0, math.Inf(1), false
		for s := range stages {
			if t := nextForward(stages, s, p.waves); t < begins {
				at, begins, back = s, t, false
			}
			if t := nextBack(stages, s); t < begins {
				at, begins, back = s, t, true
			}
		}
		ends = max(ends, stages[at].run(begins, back))
	}
	return ends
}

// nextBack returns when stage s can begin the backward pass of its next wave, as far as the simulated
// passes determine it.
func nextBack(stages []clock, s int) float64 {
	c := &stages[s]
	n, done := len(c.backward), c.forward
	if s+1 < len(stages) {
		done = stages[s+1].backward
	}
	if n >= len(c.forward) || n >= len(done) {
		return math.Inf(1)
	}
	return max(done[n], c.free)
}

// nextForward returns when stage s can begin its next wave.
func nextForward(stages []clock, s, waves int) float64 {
	c := &stages[s]
	n := len(c.forward)
	switch {
	case n == waves || n-len(c.backward) == c.limit:
		return math.Inf(1)
	case s == 0:
		return c.free
	case n >= len(stages[s-1].forward):
		return math.Inf(1)
	}
	return max(stages[s-1].forward[n], c.free)
}

// run makes a stage run a pass of its next wave, and returns when the pass ends.
func (c *clock) run(begins float64, backward bool) float64 {
	if backward {
		c.free = begins + float64(c.seconds*(1-forwardShare))
		c.backward = append(c.backward, c.free)
	} else {
		c.free = begins + float64(c.seconds*forwardShare)
		c.forward = append(c.forward, c.free)
	}
	return c.free
}
