package recipe

import (
	"github.com/bnctl/bnctl/parallel"
	"math"
	"testing"
)

func TestRate(t *testing.T) {
	// The run has ten steps an epoch and a peak rate of 0.8.
	r := &Recipe{LR: 0.8, Epochs: 4, Batch: 10, Accumulate: 1, Tail: parallel.Keep, Data: Data{Samples: 95}}
	for _, c := range []struct {
		schedule string
		warmup   float64
		step     int
		want     float64
	}{
		{"constant", 0, 39, 0.8},
		{"constant", 0.5, 0, 0.8 / 5},
		{"constant", 0.5, 4, 0.8},
		{"step:1,2.5", 0, 9, 0.8},
		{"step:1,2.5", 0, 10, 0.08},
		{"step:1,2.5", 0, 24, 0.08},
		{"step:1,2.5", 0, 25, 0.008},
		{"cosine", 0, 0, 0.8},
		{"cosine", 0, 20, 0.4},
		{"cosine", 0, 40, 0},
		{"cosine", 2, 20, 0.8},
		{"cosine", 2, 30, 0.4},
	} {
		r.Schedule, r.Warmup = c.schedule, c.warmup
		s, err := NewSchedule(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Rate(c.step); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s, warm-up %g: step %d has the rate %g, want %g", c.schedule, c.warmup, c.step, got, c.want)
		}
	}
}
