package device

import "time"

// Link is the network between the host and the machine of a device.
type Link struct {
	Machine   string        // its address, HOST:PORT; "": the device is on this machine
	RoundTrip time.Duration // round trip of a call without tensors, measured when the device was opened
	// Rate is the bytes per second that were measured when the device was opened; 0: unknown.
	Rate float64
	// Sent and Received count the bytes of all connections with the machine so far, including encryption.
	Sent, Received int64
}

// linked is a Device that may be on another machine.
type linked interface{ Link() Link }

// LinkOf returns the link to the machine of d, or the zero Link if d is on this machine.
func LinkOf(d Device) Link {
	if l, ok := d.(linked); ok {
		return l.Link()
	}
	return Link{}
}

// Traffic is the data that a step moves between the host and a device.
type Traffic struct {
	Out, In int64 // bytes to the device and from it
	// Waits is the number of round trips of the step, one after the other.
	Waits int
}

// Add adds the traffic of another device of the same machine. The devices wait at the same time, so
// the result has the larger number of round trips.
func (t *Traffic) Add(o Traffic) {
	t.Out, t.In, t.Waits = t.Out+o.Out, t.In+o.In, max(t.Waits, o.Waits)
}

// Expected returns the time that the traffic needs at a rate in bytes per second if nothing overlaps. It
// returns 0 if the rate is 0 (unknown).
func (t Traffic) Expected(rate float64, roundTrip time.Duration) time.Duration {
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(t.Out+t.In)/rate*float64(time.Second)) + time.Duration(t.Waits)*roundTrip
}

// Costed is an Executable that can compute the traffic of a step.
type Costed interface {
	// StepTraffic returns the traffic of a run of graph.Train and its commit. rows has the rows of
	// each replica of the device in its present group.
	StepTraffic(rows []int) Traffic
}
