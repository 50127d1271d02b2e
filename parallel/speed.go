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

// DeviceTime is the time that a device has trained since it was opened, and the part of it
// that the device spent waiting for others.
type DeviceTime struct {
	Device        string // name of the device
	Stage         int    // number of the device's stage, from 1; 0: the device has all layers
	Replicas      int    // present number of replicas
	Rows          int    // trained rows
	Took, Blocked time.Duration
	Sending       time.Duration // part of Blocked for sending messages, if the device is on another machine
	Link          device.Link   // link to that machine
}

// Times returns the training times of the present members, in their order. It must not be
// called while they run.
func (g *Group) Times() []DeviceTime {
	var all []DeviceTime
	for _, m := range g.members {
		all = append(all, DeviceTime{Device: m.Name, Stage: m.stage, Replicas: len(m.replicas),
			Rows: m.pace.trained, Took: m.pace.took, Blocked: m.pace.blocked, Sending: m.pace.sending,
			Link: device.LinkOf(m.Device)})
	}
	return all
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

// least returns the minimum number of replicas of each member: 1 for a member with fewer than two
// measurements, because the first may include steps in which the device compiled. Otherwise it is
// 0.
func (ms members) least() []int {
	least := make([]int, len(ms))
	for i, m := range ms {
		if m.pace.times < 2 {
			least[i] = 1
		}
	}
	return least
}

// speeds returns the speeds of the members. An unknown speed is the mean of the known ones;
// nil if all are unknown.
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
