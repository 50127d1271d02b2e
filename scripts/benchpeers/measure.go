package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// bench is the state of a run.
type bench struct {
	options
	ctx   context.Context
	peers map[string]*peer // by command
	once  []string         // what peers that do not stay loaded are: "oneDNN 2.6.3"
	files map[string]string
}

// result is what came of a row.
type result struct {
	row
	ours, theirs sample // theirs is empty if the row stands alone
	against      string // name of the other side
	before       probe
	after        probe
}

// sample is the figures of one side, sorted.
type sample []float64

func (s sample) median() float64 {
	if len(s) == 0 {
		return 0
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// pause lets threads of the other side that still spin go to sleep.
const pause = 50 * time.Millisecond

// measure measures the sides of a row in turn.
func (b *bench) measure(ctx context.Context, r row) (result, error) {
	b.ctx = ctx
	out := result{row: r}
	var err error
	if out.before, err = b.probe(r.threads); err != nil {
		return out, err
	}
	sides := append([]side{r.ours}, r.theirs...)
	samples := make([]sample, len(sides))
	for range b.rounds {
		for i, s := range sides {
			v, err := s.measure(b)
			if err != nil {
				return out, fmt.Errorf("%s: %w", s.name, err)
			}
			samples[i] = append(samples[i], v)
			time.Sleep(pause)
		}
	}
	if out.after, err = b.probe(r.threads); err != nil {
		return out, err
	}
	for _, s := range samples {
		slices.Sort(s)
	}
	out.ours = samples[0]
	for i, s := range samples[1:] {
		if len(out.theirs) == 0 || r.better(s.median(), out.theirs.median()) {
			out.theirs, out.against = s, r.theirs[i].name
		}
	}
	return out, nil
}

func (r row) better(a, b float64) bool {
	if r.less {
		return a < b
	}
	return a > b
}

// ratio says how many times better ours is, above 1 being better for either
// unit.
func (r result) ratio() float64 {
	if r.less {
		return r.theirs.median() / r.ours.median()
	}
	return r.ours.median() / r.theirs.median()
}

func (b *bench) close() {
	for _, p := range b.peers {
		p.close()
	}
}
