package remote

import (
	"context"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device"
)

// counter measures the connections with another machine. There is one connection for each device of
// the machine.
type counter struct {
	sent, received atomic.Int64 // bytes, encrypted

	mu        sync.Mutex
	roundTrip time.Duration // time of a call without tensors
	rate      float64       // bytes a second of the fastest probe or state that was sent; 0: unknown
}

// minMeasured is the minimum number of bytes for a meaningful rate.
const minMeasured = 64 << 10

// dial returns the dialer of gRPC for address.
func (c *counter) dial(address string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return &countedConn{conn, c}, nil
	}
}

// countedConn is a connection that counts its bytes.
type countedConn struct {
	net.Conn
	counter *counter
}

// Read implements net.Conn.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.counter.received.Add(int64(n))
	return n, err
}

// Write implements net.Conn.
func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.counter.sent.Add(int64(n))
	return n, err
}

// A connection is probed by calls. The fastest of emptyCalls calls without content is the round trip. Then
// the calls grow from minProbe to maxProbe bytes, because a network with a long delay reaches its rate only
// after some messages. maxProbe is below the maximum size of a message. Probing ends after maxProbes calls of
// maxProbe bytes, or after probeTime.
const (
	emptyCalls = 3
	minProbe   = 64 << 10
	maxProbe   = 1 << 20
	maxProbes  = 4
	probeTime  = time.Second
)

// probe measures the round trip and the rate of a new connection. call sends the given number of bytes, and
// returns after a round trip.
func (c *counter) probe(call func(bytes int) error) error {
	timed := func(bytes int) (time.Duration, error) {
		start := time.Now()
		err := call(bytes)
		return time.Since(start), err
	}
	roundTrip, best := time.Duration(math.MaxInt64), 0.0
	for range emptyCalls {
		took, err := timed(0)
		if err != nil {
			return err
		}
		roundTrip = min(roundTrip, took)
	}
	for bytes, large, began := minProbe, 0, time.Now(); large < maxProbes && time.Since(began) < probeTime; {
		took, err := timed(bytes)
		if err != nil {
			return err
		}
		best = max(best, rateOf(int64(bytes), took, roundTrip))
		if bytes < maxProbe {
			bytes *= 2
		} else {
			large++
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.roundTrip, c.rate = roundTrip, best
	return nil
}

// rateOf returns the bytes per second of a transfer. took is the time of the transfer, and waiting the part
// that was spent on round trips; at most half of took is subtracted.
func rateOf(bytes int64, took, waiting time.Duration) float64 {
	took -= min(waiting, took/2)
	return float64(bytes) / max(took, time.Microsecond).Seconds()
}

// measured calls send, which sends state to a device, and measures the rate. It keeps the highest rate,
// because the time includes the work of the device. send returns the number of round trips. A nil counter
// measures nothing.
func (c *counter) measured(send func() (waits int, err error)) error {
	if c == nil {
		_, err := send()
		return err
	}
	began, before := time.Now(), c.sent.Load()
	waits, err := send()
	bytes, took := c.sent.Load()-before, time.Since(began)
	if err != nil || bytes < minMeasured {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rate = max(c.rate, rateOf(bytes, took, time.Duration(waits)*c.roundTrip))
	return nil
}

// link describes the connection with a machine.
func (c *counter) link(machine string) device.Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return device.Link{Machine: machine, RoundTrip: c.roundTrip, Rate: c.rate, Sent: c.sent.Load(),
		Received: c.received.Load()}
}

// Link describes the connection with the machine of the device: see device.LinkOf.
func (d *remoteDevice) Link() device.Link { return d.session.peer.link() }

// link describes the connection of a peer on another machine. It is zero for a process of this machine.
func (p *peer) link() device.Link {
	if p.command.counter == nil {
		return device.Link{}
	}
	return p.command.counter.link(p.command.Name)
}
