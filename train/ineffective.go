package train

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
	epochs := float64(r.TotalSteps()) / float64(r.StepsPerEpoch())
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
	if r.Warmup >= epochs {
		out = append(out, problem.New("warmup", fmt.Sprint(r.Warmup),
			"the learning rate never comes down again, "+length, ""))
	}
	return out
}
