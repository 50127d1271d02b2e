package parallel

import (
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/internal/placement"
)

// MachineTraffic is the data of a step that a host exchanges with another machine.
type MachineTraffic struct {
	Link     device.Link
	Devices  []string
	Replicas int
	Traffic  device.Traffic // according to the sizes of the messages
	Rows     int            // rows of a full batch on this machine
	RowBytes int64          // the part of Traffic that grows with the rows
}

// Expected returns the time that the traffic needs on the link if nothing overlaps; 0: unknown.
func (t MachineTraffic) Expected() time.Duration {
	return t.Traffic.Expected(t.Link.Rate, t.Link.RoundTrip)
}

// Traffic returns the traffic of a full batch with each machine, in the order of their first devices. It is
// called between steps.
func (g *Group) Traffic() (list []*MachineTraffic) {
	known := map[string]*MachineTraffic{}
	rows := placement.Split(g.batch, g.comm.replicas)
	for _, m := range g.members {
		link := device.LinkOf(m.Device)
		if link.Machine == "" {
			continue
		}
		t := known[link.Machine]
		if t == nil {
			t = &MachineTraffic{Link: link}
			known[link.Machine], list = t, append(list, t)
		}
		t.Devices, t.Replicas = append(t.Devices, m.Name), t.Replicas+len(m.replicas)
		var counts, doubled []int
		for _, r := range m.replicas {
			t.Rows += rows[r]
			counts, doubled = append(counts, rows[r]), append(doubled, 2*rows[r])
		}
		if x, ok := m.exe.(device.Costed); ok {
			once, twice := x.StepTraffic(counts), x.StepTraffic(doubled)
			t.Traffic.Add(once)
			t.RowBytes += twice.Out + twice.In - once.Out - once.In
		}
	}
	return list
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
