package parallel

import (
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Placement by speed needs the rows per second of a busy device, so the time spent waiting for
// others is subtracted. The first measurement may include steps in which a device compiles, so it
// counts less: see least.

// pace is the measured speed of a device in training.
type pace struct {
	rows  int           // rows since the last Balance
	busy  time.Duration // time of computing since the last Balance, without waiting for others
	speed float64       // rows per second used for the placement; 0: unknown
	times int           // number of measurements

	took, blocked, sending time.Duration // times of all training since the device was opened
	trained                int           // rows of this training
}

// add counts a run of f on replicas of a batch.
func (p *pace) add(f *graph.Function, b Batch, replicas []int, o device.Outcome) {
	if f.Name != graph.Train {
		return
	}
	for _, r := range replicas {
		p.rows, p.trained = p.rows+b.Sizes[r], p.trained+b.Sizes[r]
	}
	p.busy += o.Took - o.Blocked
	p.took, p.blocked, p.sending = p.took+o.Took, p.blocked+o.Blocked, p.sending+o.Sending
}
