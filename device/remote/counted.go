package remote

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device"
)

// counter measures the connections with another machine, one for each of its devices.
type counter struct {
	sent, received atomic.Int64 // bytes, encrypted

	mu        sync.Mutex
	roundTrip time.Duration // time of a call without tensors
	rate      float64       // bytes a second, over all connections, while a state was sent; 0: unknown
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

// setRoundTrip stores the time of a call without tensors.
func (c *counter) setRoundTrip(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.roundTrip = d
}

// measured calls send, which sends state to a device, and stores the rate. send returns the number of
// round trips. A nil counter measures nothing.
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
	if under := took - time.Duration(waits)*c.roundTrip; under > 0 {
		took = under
	}
	c.rate = float64(bytes) / max(took, time.Microsecond).Seconds()
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
