package recipe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Ineffective lists the options of a recipe that have no effect, or not the intended
// one, because the run ends before. They are not errors: the run may be
// continued later.
func (r *Recipe) Ineffective() (out []*problem.Error) {
	epochs := epochsOf(r, r.TotalSteps())
	length := "the run has 1 epoch"
	if epochs != 1 {
		length = fmt.Sprintf("the run has %.4g epochs", epochs)
	}
	if list, ok := strings.CutPrefix(r.Schedule, "step:"); ok {
		var unreached []string
		for e := range strings.SplitSeq(list, ",") {
			if at, err := strconv.ParseFloat(e, 64); err == nil && at >= epochs {
				unreached = append(unreached, e)
			}
		}
		if len(unreached) > 0 {
			out = append(out, problem.New("schedule", r.Schedule,
				fmt.Sprintf("epoch %s is never reached, %s", strings.Join(unreached, ", "), length), ""))
		}
	}
	return append(out, r.endlessWarmup(length)...)
}

// endlessWarmup reports a warm-up that lasts the whole run. length describes the length of the run.
func (r *Recipe) endlessWarmup(length string) []*problem.Error {
	s, err := NewSchedule(r)
	total := r.TotalSteps()
	switch {
	case err != nil || s.warmup < total:
		return nil
	case s.warmup == total:
		return []*problem.Error{problem.New("warmup", fmt.Sprint(r.Warmup),
			"the learning rate never comes down again, "+length, "")}
	}
	return []*problem.Error{problem.New("warmup", fmt.Sprint(r.Warmup), fmt.Sprintf("the learning rate never "+
		"reaches %g, %s: the last step has %.3g", r.LR, length, s.Rate(total-1)),
		"train longer, or use a smaller {warmup}")}
}

// epochsOf converts a number of steps to a number of epochs.
func epochsOf(r *Recipe, steps int) float64 { return float64(steps) / float64(r.StepsPerEpoch()) }
