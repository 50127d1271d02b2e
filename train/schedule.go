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
	poly          float64   // power, if not 0
	drops         []float64 // epochs at whose start the rate is divided by ten
	perEpoch      int
}

// NewSchedule reads the schedule of a recipe: "constant", "cosine" (per step, to 0
// at the end of the run), "poly:POWER" (proportional to the remaining share of
// steps, to that power; "poly" is "poly:0.9") or "step:E1,E2,..." (divided by 10 at
// each of these epochs). During the first Recipe.Warmup epochs the rate rises
// linearly. The error quotes what it cannot read.
func NewSchedule(r *Recipe) (Schedule, error) {
	s := Schedule{peak: r.LR, total: r.TotalSteps(), perEpoch: r.StepsPerEpoch()}
	s.warmup = int(math.Round(r.Warmup * float64(s.perEpoch)))
	name, list, _ := strings.Cut(r.Schedule, ":")
	switch {
	case name == "constant" && list == "":
	case name == "cosine" && list == "":
		s.cosine = true
	case name == "poly":
		if s.poly = 0.9; list != "" {
			power, err := strconv.ParseFloat(list, 64)
			if err != nil || !(power > 0 && power <= 100) {
				return s, fmt.Errorf("schedule %q: %q is no power", r.Schedule, list)
			}
			s.poly = power
		}
	case name == "step" && list != "":
		for _, e := range strings.Split(list, ",") {
			at, err := strconv.ParseFloat(e, 64)
			if err != nil || !(at > 0) {
				return s, fmt.Errorf("schedule %q: %q is not an epoch", r.Schedule, e)
			}
			s.drops = append(s.drops, at)
		}
	default:
		return s, fmt.Errorf("unknown schedule %q; there are constant, cosine, poly[:POWER] and step:E1,E2",
			r.Schedule)
	}
	return s, nil
}

// looksAhead reports whether a schedule's rates depend on the length of the run.
func looksAhead(schedule string) bool {
	return schedule == "cosine" || strings.HasPrefix(schedule, "poly")
}

// Rate returns the learning rate of a step, counted from 0. The cosine is
// bnctl's own, so that every machine gets the same bits.
func (s Schedule) Rate(step int) float64 {
	if step < s.warmup {
		return s.peak * float64(step+1) / float64(s.warmup)
	}
	rate := s.peak
	t := float64(step-s.warmup) / float64(max(s.total-s.warmup, 1))
	if s.poly > 0 {
		return s.peak * tensor.Exp(float64(s.poly*tensor.Log(1-t)))
	}
	if s.cosine {
		return 0.5 * s.peak * (1 + tensor.Cos(math.Pi*t))
	}
	for _, at := range s.drops {
		if float64(step) >= float64(at*float64(s.perEpoch)) {
			rate /= 10
		}
	}
	return rate
}
