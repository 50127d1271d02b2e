package server

import (
	"bytes"
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// What a connection takes whatever comes on it: goroutines, buffers, and tables
// of compressed headers. Over HTTP/2 a block of headers may be half there.
const (
	plainConnection = 32 << 10
	tlsConnection   = 32 << 10 // more
	framed          = 48 << 10 // and headerGrowth times the headers that there may be
	aStream         = 16 << 10 // of HTTP/2: a goroutine and its buffers
)

// A header takes more than its text: a name, a list, and their places in a map.
const (
	aHeader      = 128
	leastHeader  = 5 // bytes of text, "a:b\r\n"
	headerGrowth = 4 // by HTTP/2, where each counts 32 bytes more than its text
)

// connections are those that are open. They take a half of the room at most; one
// on which nothing is asked is closed to make room.
type connections struct {
	room  *room
	mu    sync.Mutex
	ended bool      // unused ones are closed
	idle  list.List // of *connection without a request, since the longest first
	own   int64     // bytes that connections take, requests apart
}

// connection is one that is counted.
type connection struct {
	net.Conn
	of     *connections
	least  int64        // bytes that it takes while no headers are read
	held   atomic.Int64 // bytes that it takes itself
	asked  atomic.Int64 // bytes that its requests take
	sealed bool         // by TLS: what comes cannot be read here
	framed atomic.Bool  // it is of HTTP/2, which has its own limits for headers
	busy   atomic.Bool  // a request is under way
	used   bool         // there was one
	closed bool
	at     *list.Element // among idle ones; nil: it is not there
}

// add counts a connection; nil: there is no room for it.
func (c *connections) add(conn net.Conn, l countedListener) *connection {
	k := &connection{Conn: conn, of: c, least: l.takes, sealed: l.sealed}
	k.framed.Store(l.framed)
	if !c.hold(k, l.takes) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		c.release(k)
		return nil
	}
	k.at = c.idle.PushBack(k)
	return k
}

// hold takes n more bytes for a connection itself.
func (c *connections) hold(k *connection, n int64) bool {
	for !c.fits(n) || !c.room.take(n) {
		if !c.closeOldest(k) {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.closed {
		c.room.taken.Add(-n)
		return false
	}
	c.own += n
	k.held.Add(n)
	return true
}

// fits reports whether connections may take n bytes more.
func (c *connections) fits(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own+n <= c.room.limit/2
}

// release gives back what a connection takes itself. c.mu is held.
func (c *connections) release(k *connection) {
	n := k.held.Swap(0)
	c.own -= n
	c.room.taken.Add(-n)
}

// closeOldest closes the connection on which nothing is asked for the longest
// time, if it is not but, and reports whether there was one.
func (c *connections) closeOldest(but *connection) bool {
	c.mu.Lock()
	var oldest *connection
	for e := c.idle.Front(); e != nil && oldest == nil; e = e.Next() {
		if k := e.Value.(*connection); k != but {
			oldest = k
		}
	}
	c.mu.Unlock()
	if oldest == nil {
		return false
	}
	oldest.Close()
	return true
}

// endUnused is how long a first request may be on its way once the server is
// told to end: it is refused instead of cut off.
const endUnused = 100 * time.Millisecond

// end closes connections on which no request came, and those that come: clients
// open them to have them ready, and net/http waits for such a one for seconds.
func (c *connections) end() {
	c.mu.Lock()
	c.ended = true
	var unused []*connection
	for e := c.idle.Front(); e != nil; e = e.Next() {
		if k := e.Value.(*connection); !k.used {
			unused = append(unused, k)
		}
	}
	c.mu.Unlock()
	for _, k := range unused {
		k.Close()
	}
}

// Close implements net.Conn.
func (k *connection) Close() error {
	k.of.mu.Lock()
	k.closed = true
	k.of.release(k)
	if k.at != nil {
		k.of.idle.Remove(k.at)
		k.at = nil
	}
	k.of.mu.Unlock()
	return k.Conn.Close()
}

// Read implements net.Conn. What comes by HTTP/1 while no request is under way is
// headers, which are counted as they come.
func (k *connection) Read(b []byte) (int, error) {
	n, err := k.Conn.Read(b)
	if n == 0 || k.busy.Load() || k.framed.Load() {
		return n, err
	}
	lines := int64(bytes.Count(b[:n], []byte{'\n'}))
	if k.sealed {
		lines = int64(n) / leastHeader
	}
	if !k.of.hold(k, 2*int64(n)+lines*aHeader) {
		k.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// connectionKey is where the context of a request has its connection.
type connectionKey struct{}

// withConnection is called by net/http with the connections that it serves.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, unseal(c))
}

// unseal returns a connection as it was accepted; nil if it is not counted.
func unseal(c net.Conn) *connection {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	k, _ := c.(*connection)
	return k
}

// follow is called by net/http with the states of connections.
func follow(c net.Conn, state http.ConnState) {
	k := unseal(c)
	if k == nil {
		return
	}
	switch state {
	case http.StateActive:
		k.begin()
	case http.StateIdle:
		k.rest()
	}
}

// begin is when a request has come: its own lease counts its headers.
func (k *connection) begin() {
	k.busy.Store(true)
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	k.used = true
	if k.at == nil {
		return // it is closed, or was busy
	}
	k.of.idle.Remove(k.at)
	k.at = nil
	over := k.held.Load() - k.least
	k.held.Add(-over)
	k.of.own -= over
	k.of.room.taken.Add(-over)
}

// rest is when all its requests are answered.
func (k *connection) rest() {
	k.busy.Store(false)
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if !k.closed && k.at == nil {
		k.at = k.of.idle.PushBack(k)
	}
}

// become is when it turns out to be of HTTP/2.
func (k *connection) become(n int64) error {
	if k == nil || k.framed.Swap(true) {
		return nil
	}
	if !k.of.hold(k, n) {
		return busy("there is no room for another connection; try again")
	}
	k.of.mu.Lock()
	k.least += n
	k.of.mu.Unlock()
	return nil
}

// countedListener counts the connections that it accepts.
type countedListener struct {
	net.Listener
	of     *connections
	takes  int64 // bytes, each
	sealed bool
	framed bool
}

// Accept implements net.Listener. One for which there is no room is closed.
func (l countedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if k := l.of.add(c, l); k != nil {
			return k, nil
		}
		c.Close()
	}
}
