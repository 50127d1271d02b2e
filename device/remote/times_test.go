package remote_test

import (
	"math"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
)

// lies are functions that change the times of a run.
var lies = map[string]func(o *device.Outcome){
	"negative":         func(o *device.Outcome) { o.Took, o.Blocked = -time.Hour, -time.Second },
	"hours":            func(o *device.Outcome) { o.Took, o.Blocked = 5*time.Hour, time.Hour },
	"largest":          func(o *device.Outcome) { o.Took, o.Blocked = math.MaxInt64, math.MaxInt64 },
	"smallest":         func(o *device.Outcome) { o.Took, o.Blocked = math.MinInt64, math.MinInt64 },
	"blocked for more": func(o *device.Outcome) { o.Blocked = o.Took + time.Minute },
	"nodes negative": func(o *device.Outcome) {
		for i := range o.Nodes {
			o.Nodes[i] = -time.Second
		}
	},
	"nodes take more": func(o *device.Outcome) {
		for i := range o.Nodes {
			o.Nodes[i] = math.MaxInt64 / 2
		}
	},
}

// TestTimesThatCannotBe checks that impossible times reported by a plugin are corrected. They do not
// exceed the time of the call.
func TestTimesThatCannotBe(t *testing.T) {
	for how := range lies {
		for _, level := range levels {
			t.Setenv(spoilKey, how)
			x := load(t, open(t, start(t, "spoilt", level)), regression(t))
			s := step(1, 2)
			s.Profile = true
			began := time.Now()
			o, err := x.Run(t.Context(), s)
			wall := time.Since(began)
			if err != nil {
				t.Errorf("%s, %s: %v", how, level, err)
				continue
			}
			all := time.Duration(0)
			for _, n := range o.Nodes {
				if all += n; n < 0 {
					t.Errorf("%s, %s: a node took %v", how, level, n)
				}
			}
			if o.Took < 0 || o.Took > wall || o.Blocked < 0 || o.Blocked > o.Took || all > o.Took {
				t.Errorf("%s, %s: took %v, blocked %v, nodes %v, and the call %v", how, level, o.Took, o.Blocked, all, wall)
			}
		}
	}
}
