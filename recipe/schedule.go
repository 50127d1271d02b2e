package recipe

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
	cosine        bool      // a cosine; otherwise the rate is piecewise constant
	poly          float64   // power of a polynomial; 0: another schedule
	drops         []float64 // epochs that begin with a division of the rate by ten
	rise          float64   // for onecycle, the share of the run in which the rate rises; 0: another schedule
	growth        float64   // for FindLR, the logarithm of the growth of the rate per step; 0: another schedule
	plateau       int       // evaluations without progress before the rate is reduced; 0: another schedule
	perEpoch      int
}

// NewSchedule reads the schedule of a recipe:
//
//   - "constant"
//   - "cosine": per step, to 0 at the end of the run
//   - "poly:POWER": proportional to the remaining share of steps, to that power; "poly" is "poly:0.9"
//   - "step:E1,E2,...": divided by 10 at each of these epochs
//   - "onecycle:SHARE": from a 25th of the rate up to it in that share of the steps, 0.3 by default, then
//     down to a 250,000th, both along cosines
//   - "plateau:N": divided by 10 after more than N evaluations, 10 by default, without a decrease of the
//     validation loss by 1e-4 of its value
//
// During the first Recipe.Warmup epochs the rate rises linearly. The error quotes the
// invalid part.
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
				return s, fmt.Errorf("schedule %q: %q is not a power", r.Schedule, list)
			}
			s.poly = power
		}
	case name == "step" && list != "":
		for _, e := range strings.Split(list, ",") {
			at, err := strconv.ParseFloat(e, 64)
			if err != nil || !(at > 0 && at <= math.MaxInt32) {
				return s, fmt.Errorf("schedule %q: %q is not an epoch", r.Schedule, e)
			}
			s.drops = append(s.drops, at)
		}
	case name == "onecycle":
		if s.rise = 0.3; list != "" {
			fraction, err := strconv.ParseFloat(list, 64)
			if err != nil || !(fraction > 0 && fraction < 1) {
				return s, fmt.Errorf("schedule %q: %q is not a share of the run", r.Schedule, list)
			}
			s.rise = fraction
		}
		if r.Warmup > 0 {
			return s, fmt.Errorf("schedule %q rises by itself: it excludes a warm-up", r.Schedule)
		}
	case name == "plateau":
		if s.plateau = 10; list != "" {
			n, err := strconv.Atoi(list)
			if err != nil || n < 1 || n > 1_000_000 {
				return s, fmt.Errorf("schedule %q: %q is not a number of evaluations", r.Schedule, list)
			}
			s.plateau = n
		}
	default:
		return s, fmt.Errorf("unknown schedule %q; there are constant, cosine, poly[:POWER], step:E1,E2, "+
			"onecycle[:SHARE] and plateau[:N]", r.Schedule)
	}
	return s, nil
}

// Growing returns the schedule of FindLR: the rate grows by the same factor in each step. growth is the
// natural logarithm of this factor.
func (s Schedule) Growing(growth float64) Schedule {
	s.growth = growth
	return s
}

// looksAhead reports whether a schedule's rates depend on the length of the run.
func looksAhead(schedule string) bool {
	return schedule == "cosine" || strings.HasPrefix(schedule, "poly") || strings.HasPrefix(schedule, "onecycle")
}

// Rate returns the learning rate of a step, counted from 0. It uses bnctl's cosine, so that
// every machine gets the same bits.
func (s Schedule) Rate(step int) float64 {
	if step < s.warmup {
		return s.peak * float64(step+1) / float64(s.warmup)
	}
	if s.growth > 0 {
		return s.peak * tensor.Exp(float64(s.growth*float64(step)))
	}
	rate := s.peak
	t := float64(step-s.warmup) / float64(max(s.total-s.warmup, 1))
	if s.poly > 0 {
		return s.peak * tensor.Exp(float64(s.poly*tensor.Log(1-t)))
	}
	if s.rise > 0 {
		return s.oneCycle(step)
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

// PyTorch's OneCycleLR divides the peak rate by the first number to get the initial rate, and the initial
// rate by the second number to get the last rate.
const (
	oneCycleStart = 25
	oneCycleEnd   = 1e4
)

// oneCycle returns the rate of PyTorch's OneCycleLR (Smith and Topin 2018) with two phases
// and without changes of momentum. A rise of a single step, for which PyTorch divides by
// zero, is the initial rate.
func (s Schedule) oneCycle(step int) float64 {
	top, low := s.peak, s.peak/oneCycleStart
	turn, last := float64(s.rise*float64(s.total))-1, float64(s.total-1)
	if t := float64(step); t <= turn {
		done := 0.0
		if turn != 0 {
			done = t / turn
		}
		return cosineBetween(low, top, done)
	}
	return cosineBetween(top, low/oneCycleEnd, (float64(step)-turn)/(last-turn))
}

// cosineBetween goes from one rate to another while t goes from 0 to 1.
func cosineBetween(start, end, t float64) float64 {
	return end + float64((start-end)/2*(1+tensor.Cos(math.Pi*t)))
}

// RateReduced returns the rate of a plateau schedule after that number of reductions. For other schedules it
// does the same as Rate.
func (s Schedule) RateReduced(step, reductions int) float64 {
	rate := s.Rate(step)
	for range reductions {
		rate /= 10
	}
	return rate
}

// Plateau is the state of a plateau schedule: PyTorch's ReduceLROnPlateau.
type Plateau struct {
	Best       float64 `json:"best"`       // smallest validation loss
	Bad        int     `json:"bad"`        // evaluations since then; see plateauThreshold
	Reductions int     `json:"reductions"` // reductions of the rate so far
}

// plateauThreshold is the relative decrease of the best loss that counts as an improvement.
const plateauThreshold = 1e-4

// AfterEvaluation updates p with a validation loss. p is nil before the first evaluation.
func (s Schedule) AfterEvaluation(p *Plateau, loss float64) *Plateau {
	if s.plateau == 0 {
		return nil
	}
	if !tensor.IsFinite(loss) {
		loss = math.MaxFloat64
	}
	if p == nil {
		return &Plateau{Best: loss}
	}
	next := *p
	if loss < p.Best*(1-plateauThreshold) {
		next.Best, next.Bad = loss, 0
		return &next
	}
	if next.Bad++; next.Bad > s.plateau {
		next.Bad, next.Reductions = 0, next.Reductions+1
	}
	return &next
}
