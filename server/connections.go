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
)

// Memory of a connection, in addition to the data that it receives. It is for goroutines, buffers and tables
// of compressed headers, and on HTTP/2 for an incomplete block of headers.
const (
	plainConnBytes  = 32 << 10
	tlsExtraBytes   = 32 << 10 // in addition with TLS
	http2ExtraBytes = 48 << 10 // in addition on HTTP/2, plus headerGrowth times the limit of headers
	streamBytes     = 16 << 10 // bytes for each stream of HTTP/2: a goroutine and its buffers
)

// Memory of headers. A header needs more memory than its text: for strings, a slice and a map entry.
const (
	headerOverhead = 128
	minHeaderText  = 5 // least bytes of text in a header, "a:b\r\n"
	headerGrowth   = 4 // HTTP/2 counts 32 bytes more than the text for each header
)

// connTracker counts the open connections and their memory. They use at most half of the budget. Idle
// connections are closed to free memory.
type connTracker struct {
	budget    *memoryBudget
	mu        sync.Mutex
	closing   bool      // connections without a request are closed
	idleConns list.List // list of *trackedConn, longest idle first
	open      int       // connections
	bytes     int64     // bytes of connections, without their requests
}

// trackedConn is a connection with memory that is counted in the budget.
type trackedConn struct {
	net.Conn
	tracker      *connTracker
	baseBytes    int64        // bytes of the connection while no headers are read
	bytes        atomic.Int64 // bytes of the connection, without its requests
	requestBytes atomic.Int64 // bytes of its requests
	encrypted    bool         // TLS is used: bytes read here are not plain text
	http2        atomic.Bool  // HTTP/2 has separate limits for headers
	active       atomic.Bool  // a request is in progress
	upgraded     atomic.Bool  // the connection is a stream of rows, which net/http does not close
	hadRequest   bool         // at least one request was read
	closed       bool
	idleElement  *list.Element // element of idleConns; nil if the connection is not idle
}

// track registers a connection, or returns nil if there is not enough memory for it.
func (c *connTracker) track(conn net.Conn, l trackingListener) *trackedConn {
	k := &trackedConn{Conn: conn, tracker: c, baseBytes: l.connBytes, encrypted: l.encrypted}
	k.http2.Store(l.http2)
	if !c.reserve(k, l.connBytes) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		c.release(k)
		return nil
	}
	k.idleElement = c.idleConns.PushBack(k)
	c.open++
	return k
}

// reserve reserves n more bytes for the connection itself.
func (c *connTracker) reserve(k *trackedConn, n int64) bool {
	for !c.fits(n) || !c.budget.reserve(n) {
		if !c.closeLongestIdle(k) {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.closed {
		c.budget.used.Add(-n)
		return false
	}
	c.bytes += n
	k.bytes.Add(n)
	return true
}

// fits reports whether the connections may use n more bytes of the budget.
func (c *connTracker) fits(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes+n <= c.budget.limit/2
}

// release releases the memory of the connection itself. c.mu is locked.
func (c *connTracker) release(k *trackedConn) {
	n := k.bytes.Swap(0)
	c.bytes -= n
	c.budget.used.Add(-n)
}

// closeLongestIdle closes the connection that has been idle for the longest time, except the connection
// except. It reports whether there was one to close.
func (c *connTracker) closeLongestIdle(except *trackedConn) bool {
	c.mu.Lock()
	var oldest *trackedConn
	for e := c.idleConns.Front(); e != nil && oldest == nil; e = e.Next() {
		if k := e.Value.(*trackedConn); k != except {
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

// count returns the number of open connections.
func (c *connTracker) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// closeUnused closes connections without a request, idle streams of rows, and connections that are opened
// later. Clients open connections in advance, and without closeUnused net/http would wait some seconds for a
// request on each of them.
func (c *connTracker) closeUnused() {
	c.mu.Lock()
	c.closing = true
	var unused []*trackedConn
	for e := c.idleConns.Front(); e != nil; e = e.Next() {
		if k := e.Value.(*trackedConn); !k.hadRequest || k.upgraded.Load() {
			unused = append(unused, k)
		}
	}
	c.mu.Unlock()
	for _, k := range unused {
		k.Close()
	}
}

// Close implements net.Conn.
func (k *trackedConn) Close() error {
	k.tracker.mu.Lock()
	if !k.closed {
		k.tracker.open--
	}
	k.closed = true
	k.tracker.release(k)
	if k.idleElement != nil {
		k.tracker.idleConns.Remove(k.idleElement)
		k.idleElement = nil
	}
	k.tracker.mu.Unlock()
	return k.Conn.Close()
}

// Read implements net.Conn. On HTTP/1, bytes that arrive while no request is in progress
// are headers. Their memory is reserved as they arrive.
func (k *trackedConn) Read(b []byte) (int, error) {
	n, err := k.Conn.Read(b)
	if n == 0 || k.active.Load() || k.http2.Load() {
		return n, err
	}
	lines := int64(bytes.Count(b[:n], []byte{'\n'}))
	if k.encrypted {
		lines = int64(n) / minHeaderText
	}
	if !k.tracker.reserve(k, 2*int64(n)+lines*headerOverhead) {
		k.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// connContext is http.Server.ConnContext.
func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, trackedConnOf(c))
}

// trackedConnOf returns the connection beneath TLS, or nil if it is not tracked.
func trackedConnOf(c net.Conn) *trackedConn {
	if f, ok := c.(*framedConn); ok {
		return f.tracked
	}
	return nil
}

// onConnState is http.Server.ConnState.
func onConnState(c net.Conn, state http.ConnState) {
	k := trackedConnOf(c)
	if k == nil {
		return
	}
	switch state {
	case http.StateActive:
		k.onActive()
	case http.StateIdle:
		k.onIdle()
	}
}

// onActive is called when a request has arrived. From then on, the memory of its headers is counted in the
// reservation of the request, not in the connection.
func (k *trackedConn) onActive() {
	k.active.Store(true)
	k.tracker.mu.Lock()
	defer k.tracker.mu.Unlock()
	k.hadRequest = true
	if k.idleElement == nil {
		return // the connection is closed, or already active
	}
	k.tracker.idleConns.Remove(k.idleElement)
	k.idleElement = nil
	over := k.bytes.Load() - k.baseBytes
	k.bytes.Add(-over)
	k.tracker.bytes -= over
	k.tracker.budget.used.Add(-over)
}

// onIdle is called when all requests of the connection are answered.
func (k *trackedConn) onIdle() {
	k.active.Store(false)
	k.tracker.mu.Lock()
	defer k.tracker.mu.Unlock()
	if !k.closed && k.idleElement == nil {
		k.idleElement = k.tracker.idleConns.PushBack(k)
	}
}

// useHTTP2 is called for each request of HTTP/2. For the first request of a connection it reserves n more
// bytes.
func (k *trackedConn) useHTTP2(n int64) error {
	if k == nil || k.http2.Swap(true) {
		return nil
	}
	if !k.tracker.reserve(k, n) {
		return busy("too many connections; try again")
	}
	k.tracker.mu.Lock()
	k.baseBytes += n
	k.tracker.mu.Unlock()
	return nil
}

// trackingListener is a listener that tracks the connections that it accepts in a connTracker.
type trackingListener struct {
	net.Listener
	tracker   *connTracker
	connBytes int64 // bytes of each connection
	encrypted bool
	http2     bool
	tls       *tls.Config // nil: no TLS
}

// Accept implements net.Listener. It closes a new connection if there is not enough memory for it. It also
// decrypts TLS, in place of net/http, so that the frames of HTTP/2 can be counted.
func (l trackingListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if k := l.tracker.track(c, l); k != nil {
			c = k
			if l.tls != nil {
				c = tls.Server(k, l.tls)
			}
			return &framedConn{Conn: c, tracked: k}, nil
		}
		c.Close()
	}
}
