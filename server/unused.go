package server

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// unused is the connections on which no request has come: clients open them to
// have them ready. The libraries that answer wait for such a one for seconds
// before they end.
type unused struct {
	mu    sync.Mutex
	ended bool
	open  map[net.Conn]bool
}

// endUnused is how long a first request may be on its way once the server is
// told to end: it is refused instead of cut off.
const endUnused = 100 * time.Millisecond

// add follows a connection that is new.
func (u *unused) add(c net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		c.Close()
		return
	}
	if u.open == nil {
		u.open = map[net.Conn]bool{}
	}
	u.open[c] = true
}

// remove forgets a connection that is used, or closed.
func (u *unused) remove(c net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.open, c)
}

// end closes all, and those that come.
func (u *unused) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
	for c := range u.open {
		c.Close()
	}
}

// follow is called with the states of HTTP connections.
func (u *unused) follow(c net.Conn, state http.ConnState) {
	if state == http.StateNew {
		u.add(c)
	} else {
		u.remove(c)
	}
}

// followed is a listener whose connections are used when something comes.
type followed struct {
	net.Listener
	by *unused
}

// Accept implements net.Listener.
func (f followed) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	if err != nil {
		return nil, err
	}
	h := &heard{Conn: c, by: f.by}
	f.by.add(h)
	return h, nil
}

// heard is a connection that says when something came on it. One goroutine reads.
type heard struct {
	net.Conn
	by   *unused
	used bool
}

// Read implements net.Conn.
func (h *heard) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	if !h.used {
		h.used = true
		h.by.remove(h)
	}
	return n, err
}
