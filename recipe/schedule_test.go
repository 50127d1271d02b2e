package recipe

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/parallel"
)

// scheduleEdges are schedules with their parameters at the edges.
var scheduleEdges = []string{"constant", "cosine", "poly", "poly:1e-9", "poly:1", "poly:100", "step:1e-9", "step:1",
	"step:0.5,1,1.5", "step:1000", "onecycle", "onecycle:1e-300", "onecycle:0.05", "onecycle:0.1", "onecycle:0.125",
	"onecycle:0.2", "onecycle:0.25", "onecycle:0.5", "onecycle:0.75", "onecycle:0.9999999999999999", "plateau",
	"plateau:1", "plateau:1000000"}

// TestEveryRateIsInRange: every step of every schedule, for every length from 1 to 20, has a rate that is
// finite, at least 0 and at most the peak, except for the last bit.
func TestEveryRateIsInRange(t *testing.T) {
	for _, schedule := range scheduleEdges {
		for total := 1; total <= 20; total++ {
			for _, warmup := range []float64{0, 0.01, 0.5, 1, 3, 1000} {
				for _, perEpoch := range []int{1, 4, 20} {
					checkRates(t, &Recipe{LR: 0.8, Steps: total, Batch: 1, Accumulate: 1, Schedule: schedule,
						Warmup: warmup, Tail: parallel.Keep, Data: Data{Samples: perEpoch}})
				}
			}
		}
	}
}

func checkRates(t *testing.T, r *Recipe) {
	t.Helper()
	s, err := NewSchedule(r)
	if err != nil {
		if r.Warmup > 0 && s.rise > 0 {
			return // Check refuses this combination
		}
		t.Fatal(err)
	}
	highest := 0.0
	for step := range r.Steps {
		rate := s.Rate(step)
		if !(rate >= 0 && rate <= 0.8*(1+1e-15)) {
			t.Errorf("%s, warm-up %g, %d steps, %d an epoch: step %d has the rate %g", r.Schedule, r.Warmup, r.Steps,
				r.StepsPerEpoch(), step, rate)
		}
		highest = max(highest, rate)
	}
	if highest == 0 {
		t.Errorf("%s, warm-up %g, %d steps: the rate is 0 in all", r.Schedule, r.Warmup, r.Steps)
	}
}

// TestRatesByTheirFormulas compares the schedules with the formulas of PyTorch's CosineAnnealingLR,
// PolynomialLR, MultiStepLR, LinearLR and OneCycleLR, in closed form.
func TestRatesByTheirFormulas(t *testing.T) {
	formulas := map[string]func(step, total float64) float64{
		"constant": func(_, _ float64) float64 { return 1 },
		"cosine":   func(step, total float64) float64 { return (1 + math.Cos(math.Pi*step/total)) / 2 },
		"poly:2":   func(step, total float64) float64 { return math.Pow(1-step/total, 2) },
		"step:2,3": func(step, _ float64) float64 {
			return math.Pow(0.1, math.Min(math.Floor(step/4/2), 1)+math.Min(math.Floor(step/4/3), 1))
		},
		"onecycle:0.25": func(step, total float64) float64 { return oneCycleOf(0.25, step, total) },
		"onecycle:0.1":  func(step, total float64) float64 { return oneCycleOf(0.1, step, total) },
	}
	for schedule, formula := range formulas {
		for total := 1; total <= 20; total++ {
			r := &Recipe{LR: 0.8, Steps: total, Batch: 1, Accumulate: 1, Schedule: schedule, Data: Data{Samples: 4}}
			s, err := NewSchedule(r)
			if err != nil {
				t.Fatal(err)
			}
			for step := range total {
				got, want := s.Rate(step), 0.8*formula(float64(step), float64(total))
				if math.Abs(got-want) > 1e-12 {
					t.Errorf("%s, step %d of %d: %g, want %g", schedule, step, total, got, want)
				}
			}
		}
	}
}

// oneCycleOf is PyTorch's OneCycleLR with two phases, as a share of the peak. A phase without steps
// stays at its first rate.
func oneCycleOf(share, step, total float64) float64 {
	anneal := func(from, to, pct float64) float64 { return to + (from-to)/2*(1+math.Cos(math.Pi*pct)) }
	turn := share*total - 1
	switch {
	case step == turn && turn == 0:
		return 1.0 / 25
	case step <= turn:
		return anneal(1.0/25, 1, step/turn)
	}
	return anneal(1, 1.0/25/1e4, (step-turn)/(total-1-turn))
}
