package remote

import (
	"time"

	"github.com/bnctl/bnctl/device"
)

// correctTimes replaces impossible times of a plugin: its clock may jump, or it may report
// anything. wall is the duration of the call as measured by this process. A run is not
// longer than its call, its wait is not longer than the run, and neither is the sum of its
// nodes.
func correctTimes(o *device.Outcome, wall time.Duration) {
	if o.Took < 0 || o.Took > wall {
		o.Took = wall
	}
	o.Blocked = min(max(o.Blocked, 0), o.Took)
	left := o.Took
	for _, n := range o.Nodes {
		if n < 0 || n > left {
			clear(o.Nodes) // no times are known
			return
		}
		left -= n
	}
}

// countSending converts the times of a run on another machine to the host's clock. A device that neither
// computes nor waits for other devices waits for messages. others is the waiting time of its exchanges for
// other devices; the device may have computed meanwhile.
func countSending(o *device.Outcome, wall, others time.Duration) {
	o.Sending = wall - o.Took + max(o.Blocked-others, 0)
	o.Blocked += wall - o.Took
	o.Took = wall
}
