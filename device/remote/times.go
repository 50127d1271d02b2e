package remote

import (
	"time"

	"github.com/bnctl/bnctl/device"
)

// correctTimes replaces impossible times of a plugin: its clock may jump, or it may report
// anything. wall is the duration of the call as measured by this process. The time of a run is
// at most wall. The time that the run waited, and the sum of the times of its nodes, are at
// most the time of the run.
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

// countSending changes the times of a run on another machine to the host's clock. A device that neither
// computes nor waits for other devices waits for messages: Outcome.Sending. others is the time that the
// exchanges of the run waited for other devices; the device may have computed during this time.
func countSending(o *device.Outcome, wall, others time.Duration) {
	o.Sending = wall - o.Took + max(o.Blocked-others, 0)
	o.Blocked += wall - o.Took
	o.Took = wall
}
