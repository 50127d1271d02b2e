package train

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/parallel"
)

// meter adds up how time is spent between two events.
type meter struct {
	since            time.Time
	rows             int
	input, sync      time.Duration
	loss             float64
	correct, counted float64
	ranks            []parallel.RankStats
	devices          []parallel.DeviceTime // times of the devices at the start
}

// newMeter returns a meter that begins now, when the devices have spent that time.
func newMeter(devices []parallel.DeviceTime) meter {
	return meter{since: time.Now(), devices: slices.Clone(devices)}
}

// leaveOut excludes d, the time of work other than steps. before and after are the device
// times at its start and end.
func (m *meter) leaveOut(d time.Duration, before, after []parallel.DeviceTime) {
	m.since = m.since.Add(d)
	for i := range m.devices {
		d := &m.devices[i]
		s := spent(d.Device, before, after)
		d.Took, d.Blocked, d.Sending = d.Took+s.Took, d.Blocked+s.Blocked, d.Sending+s.Sending
		d.Rows += s.Rows
		d.Link.Sent, d.Link.Received = d.Link.Sent+s.Link.Sent, d.Link.Received+s.Link.Received
	}
}

// spent returns the times and bytes of a device between two moments. A device that was reopened
// between them started at zero.
func spent(name string, before, after []parallel.DeviceTime) (s parallel.DeviceTime) {
	for _, d := range after {
		if d.Device == name {
			s = d
		}
	}
	for _, d := range before {
		if d.Device != name {
			continue
		}
		if d.Took <= s.Took {
			s.Took, s.Blocked, s.Sending = s.Took-d.Took, s.Blocked-d.Blocked, s.Sending-d.Sending
			s.Rows -= d.Rows
		}
		if d.Link.Sent <= s.Link.Sent && d.Link.Received <= s.Link.Received {
			s.Link.Sent, s.Link.Received = s.Link.Sent-d.Link.Sent, s.Link.Received-d.Link.Received
		}
	}
	return s
}

func (m *meter) elapsed() time.Duration { return max(time.Since(m.since), time.Nanosecond) }

func (m *meter) throughput() float64 { return float64(m.rows) / m.elapsed().Seconds() }

func (m *meter) fraction(d time.Duration) float64 { return d.Seconds() / m.elapsed().Seconds() }

// deviceShares returns how the devices spent the time, from their times now.
func (m *meter) deviceShares(now []parallel.DeviceTime) []DeviceShare {
	var all []DeviceShare
	for _, d := range now {
		s := spent(d.Device, m.devices, now)
		all = append(all, DeviceShare{Device: d.Device, Stage: d.Stage, Replicas: d.Replicas,
			Compute: m.fraction(s.Took - s.Blocked), SyncWait: m.fraction(s.Blocked), Sending: m.fraction(s.Sending)})
	}
	return all
}
