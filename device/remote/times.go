package remote

import (
	"time"

	"github.com/bnctl/bnctl/device"
)

// correctTimes replaces times of a plugin that cannot be right: its clock may jump, or it may report
// what it likes. wall is the time of the call as this process measured it. A run takes no longer than
// its call, waits no longer than it takes, and its nodes together take no longer either.
func correctTimes(o *device.Outcome, wall time.Duration) {
	if o.Took < 0 || o.Took > wall {
		o.Took = wall
	}
	o.Blocked = min(max(o.Blocked, 0), o.Took)
	left := o.Took
	for _, n := range o.Nodes {
		if n < 0 || n > left {
			clear(o.Nodes) // nothing is known of any
			return
		}
		left -= n
	}
}
