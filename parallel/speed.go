package parallel

import (
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Placement by speed needs the rows per second of a busy device, so the time spent waiting
// for others is subtracted. The first measurement may include steps in which a device
// compiles, and counts less: see least.

// pace is the measured speed of a device in training.
type pace struct {
	rows  int           // since the last Balance
	busy  time.Duration // with them, not waiting for others
	speed float64       // rows per second that the device is placed by; 0: not known
	times int           // that it was measured

	took, blocked time.Duration // of all training since the device was opened
}

// DeviceTime is how long a device has trained since it was opened, and how much of that
// it has waited for others.
type DeviceTime struct {
	Device        string // its name
	Stage         int    // of a network that is divided, from 1; 0: it has all layers
	Replicas      int    // that it has now
	Took, Blocked time.Duration
}

// Times returns where the time of the present members went, in their order. It is not called
// while they run.
func (g *Group) Times() []DeviceTime {
	var all []DeviceTime
	for _, m := range g.members {
		all = append(all, DeviceTime{m.Name, m.stage, len(m.replicas), m.pace.took, m.pace.blocked})
	}
	return all
}

// add counts a run of f on replicas of a batch.
func (p *pace) add(f *graph.Function, b Batch, replicas []int, o device.Outcome) {
	if f.Name != graph.Train {
		return
	}
	for _, r := range replicas {
		p.rows += b.Sizes[r]
	}
	p.busy += o.Took - o.Blocked
	p.took, p.blocked = p.took+o.Took, p.blocked+o.Blocked
}

// measured returns the rows per second of each member since the last call. A member without
// replicas keeps its previous value. ok is false if a member with replicas has not trained
// any rows, or if there are no members.
func (ms members) measured() (paces []float64, ok bool) {
	ok = len(ms) > 0
	for _, m := range ms {
		p := &m.pace
		if len(m.replicas) == 0 && p.speed > 0 {
			paces = append(paces, p.speed)
			continue
		}
		ok = ok && p.rows > 0 && p.busy > 0
		paces = append(paces, float64(p.rows)/max(p.busy, 1).Seconds())
		p.rows, p.busy = 0, 0
		p.times++
	}
	return paces, ok
}

// least returns the minimum number of replicas of each member. It is one while only the
// first steps may have been measured, in which some devices compile.
func (ms members) least() []int {
	least := make([]int, len(ms))
	for i, m := range ms {
		if m.pace.times < 2 {
			least[i] = 1
		}
	}
	return least
}

// speeds returns the known speeds of the members, their mean for those that
// are not known; nil if all are not.
func (ms members) speeds() []float64 {
	sum, known := 0.0, 0
	for _, m := range ms {
		if m.pace.speed > 0 {
			sum, known = sum+m.pace.speed, known+1
		}
	}
	if known == 0 {
		return nil
	}
	var speeds []float64
	for _, m := range ms {
		v := m.pace.speed
		if v == 0 {
			v = sum / float64(known)
		}
		speeds = append(speeds, v)
	}
	return speeds
}
