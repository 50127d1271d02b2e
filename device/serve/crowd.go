package serve

import (
	"errors"
	"net"
	"slices"
	"sync"

	"google.golang.org/grpc/credentials"
)

// crowd is a listener that limits the number of connections without a completed handshake. If there
// are too many, it finds the address with the most of these connections and closes its oldest one. So
// clients without a certificate cannot keep trusted hosts from connecting.
//
//	accepted: waiting --handshake--> trusted, at most maxConnections
//	             |
//	             +-- too many wait --> closed
type crowd struct {
	net.Listener
	limit int // maximum number of waiting connections

	mu      sync.Mutex
	waiting []*comer // connections without a handshake, the oldest first
	trusted int
}

// comer is a connection of a crowd.
type comer struct {
	net.Conn
	crowd   *crowd
	address string // address without the port

	trusted bool // guarded by crowd.mu
}

var errCrowded = errors.New("too many hosts are connected")

const (
	maxConnections = 256 // limit for trusted hosts
	maxStrangers   = 128 // limit for connections without a handshake
)

func newCrowd(l net.Listener, limit int) *crowd { return &crowd{Listener: l, limit: limit} }

// Accept implements net.Listener.
func (c *crowd) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	from, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
	n := &comer{Conn: conn, crowd: c, address: from}
	if old := c.add(n); old != nil {
		_ = old.Conn.Close()
	}
	return n, nil
}

// add adds a connection. old is the connection to close, or nil.
func (c *crowd) add(n *comer) (old *comer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, n)
	if len(c.waiting) <= c.limit {
		return nil
	}
	count, worst := map[string]int{}, ""
	for _, w := range c.waiting {
		if count[w.address]++; count[w.address] > count[worst] {
			worst = w.address
		}
	}
	i := slices.IndexFunc(c.waiting, func(w *comer) bool { return w.address == worst })
	old = c.waiting[i]
	c.waiting = slices.Delete(c.waiting, i, i+1)
	return old
}

// trust records that a connection has a trusted certificate.
func (n *comer) trust() error {
	c := n.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trusted >= maxConnections {
		return errCrowded
	}
	if i := slices.Index(c.waiting, n); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		n.trusted = true
		c.trusted++
	}
	return nil
}

// Close implements net.Conn.
func (n *comer) Close() error {
	c := n.crowd
	c.mu.Lock()
	if i := slices.Index(c.waiting, n); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
	if n.trusted {
		n.trusted = false
		c.trusted--
	}
	c.mu.Unlock()
	return n.Conn.Close()
}

// trusting wraps credentials. It marks connections of a crowd as trusted after the handshake.
type trusting struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials.
func (t trusting) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := t.TransportCredentials.ServerHandshake(c)
	if err != nil {
		return conn, info, err
	}
	if n, ok := c.(*comer); ok {
		if err := n.trust(); err != nil {
			_ = conn.Close()
			return nil, nil, err
		}
	}
	return conn, info, nil
}

// Clone implements credentials.TransportCredentials.
func (t trusting) Clone() credentials.TransportCredentials {
	return trusting{t.TransportCredentials.Clone()}
}
