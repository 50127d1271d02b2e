package parallel

import (
	"time"

	"github.com/bnctl/bnctl/device"
)

// MachineTraffic is the data of a step that a host exchanges with another machine.
type MachineTraffic struct {
	Link     device.Link
	Devices  []string
	Replicas int
	Traffic  device.Traffic // by the sizes of the messages
}

// Expected returns the time that the traffic needs on the link if nothing overlaps; 0: unknown.
func (t MachineTraffic) Expected() time.Duration {
	return t.Traffic.Expected(t.Link.Rate, t.Link.RoundTrip)
}

// Traffic returns the traffic of a full batch with each machine, in the order of their first devices. It is
// called between steps.
func (g *Group) Traffic() (all []*MachineTraffic) {
	known := map[string]*MachineTraffic{}
	rows := Split(g.batch, g.comm.replicas)
	for _, m := range g.members {
		link := device.LinkOf(m.Device)
		if link.Machine == "" {
			continue
		}
		t := known[link.Machine]
		if t == nil {
			t = &MachineTraffic{Link: link}
			known[link.Machine], all = t, append(all, t)
		}
		t.Devices, t.Replicas = append(t.Devices, m.Name), t.Replicas+len(m.replicas)
		var counts []int
		for _, r := range m.replicas {
			counts = append(counts, rows[r])
		}
		if x, ok := m.exe.(device.Costed); ok {
			t.Traffic.Add(x.StepTraffic(counts))
		}
	}
	return all
}
