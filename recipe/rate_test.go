package recipe

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
)

func TestSetLR(t *testing.T) {
	for text, want := range map[string]float64{
		"": models.DefaultLR("lenet-bn"), "0.1": 0.1, "0.1@256": 0.1, "0.1@512": 0.05, "0.1@1": 25.6,
		"0.1@0": -1, "0.1@-1": -1, "0.1@x": -1, "x": -1, "x@2": -1, "0.1@": -1,
	} {
		r := Default("lenet-bn")
		r.LR, r.Batch, r.Accumulate = -1, 128, 2
		if err := r.SetLR(text); (err != nil) != (want < 0) {
			t.Errorf("%q: %v", text, err)
		}
		if want > 0 && math.Abs(r.LR-want) > 1e-12 {
			t.Errorf("%q: %g, want %g", text, r.LR, want)
		}
	}
}

// Polynomial rates match their formula, also after a warm-up.
func TestPolynomialRate(t *testing.T) {
	r := &Recipe{LR: 0.8, Epochs: 4, Batch: 10, Accumulate: 1, Tail: parallel.Keep, Data: Data{Samples: 95}}
	for schedule, power := range map[string]float64{"poly": 0.9, "poly:2": 2, "poly:0.5": 0.5} {
		for _, warmup := range []float64{0, 1} {
			r.Schedule, r.Warmup = schedule, warmup
			s, err := NewSchedule(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []int{10, 17, 39} {
				left := 1 - (float64(step)-10*warmup)/(40-10*warmup)
				if got, want := s.Rate(step), 0.8*math.Pow(left, power); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s, warm-up %g: step %d has the rate %g, want %g", schedule, warmup, step, got, want)
				}
			}
		}
	}
}

// torchSchedules is the output of testdata/schedules.py: see there.
//
//go:embed testdata/schedules.txt
var torchSchedules string

func TestSchedulesAsInPyTorch(t *testing.T) {
	plateaus, seen := map[string]*Plateau{}, 0
	for line := range strings.Lines(torchSchedules) {
		f := strings.Fields(line)
		number := func(i int) float64 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			return v
		}
		r := &Recipe{LR: 0.8, Steps: 40, Batch: 1, Accumulate: 1, Schedule: strings.TrimSuffix(f[0]+":"+f[1], ":-"),
			Data: Data{Samples: 10}}
		step := 0
		if f[0] != "plateau" {
			r.Steps, step = int(number(2)), int(number(3))
		}
		if f[0] == "step" {
			r.Data.Samples = 2
		}
		s, err := NewSchedule(r)
		if err != nil {
			t.Fatal(err)
		}
		p := plateaus[r.Schedule]
		if f[0] == "plateau" {
			p = s.AfterEvaluation(p, number(3))
			plateaus[r.Schedule] = p
		}
		reductions := 0
		if p != nil {
			reductions = p.Reductions
		}
		got := s.RateReduced(step, reductions)
		if want := number(4); math.Abs(got-want) > 1e-12*max(want, 1e-3) {
			t.Errorf("%s: rate %.15g, PyTorch has %.15g", strings.TrimSpace(line), got, want)
		}
		seen++
	}
	if seen != 954 {
		t.Errorf("%d lines, want 954", seen)
	}
}
