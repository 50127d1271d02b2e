package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// Schedule gives the learning rate of every step.
type Schedule struct {
	peak          float64
	warmup, total int       // steps
	cosine        bool      // else piecewise constant
	drops         []float64 // epochs at whose start the rate is divided by ten
	perEpoch      int
}

// NewSchedule reads the schedule of a recipe: "constant", "cosine" (per step,
// to 0 at the end of the run) or "step:E1,E2,..." (a tenth from each epoch on).
func NewSchedule(r *Recipe) (Schedule, error) {
	s := Schedule{peak: r.LR, total: r.TotalSteps(), perEpoch: r.StepsPerEpoch()}
	s.warmup = int(math.Round(r.Warmup * float64(s.perEpoch)))
	name, list, _ := strings.Cut(r.Schedule, ":")
	switch {
	case name == "constant" && list == "":
	case name == "cosine" && list == "":
		s.cosine = true
	case name == "step" && list != "":
		for _, e := range strings.Split(list, ",") {
			at, err := strconv.ParseFloat(e, 64)
			if err != nil || !(at > 0) {
				return s, fmt.Errorf("schedule %q: %q is not an epoch", r.Schedule, e)
			}
			s.drops = append(s.drops, at)
		}
	default:
		return s, fmt.Errorf("unknown schedule %q; there are constant, cosine and step:E1,E2", r.Schedule)
	}
	return s, nil
}

// looksAhead reports whether a schedule's rates depend on the length of the run.
func looksAhead(schedule string) bool { return schedule == "cosine" }

// Rate returns the learning rate of a step, counted from 0. The cosine is
// bnctl's own, so that every machine gets the same bits.
func (s Schedule) Rate(step int) float64 {
	if step < s.warmup {
		return s.peak * float64(step+1) / float64(s.warmup)
	}
	rate := s.peak
	if s.cosine {
		t := float64(step-s.warmup) / float64(max(s.total-s.warmup, 1))
		return 0.5 * s.peak * (1 + tensor.Cos(math.Pi*t))
	}
	for _, at := range s.drops {
		if float64(step) >= float64(at*float64(s.perEpoch)) {
			rate /= 10
		}
	}
	return rate
}
