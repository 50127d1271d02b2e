package server

import (
	"sync/atomic"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// memoryBudget limits the memory that all clients together may make the server use: for connections, headers,
// bodies, the tensors made of bodies, and responses that are not yet read.
type memoryBudget struct {
	limit int64
	used  atomic.Int64
	peak  atomic.Int64 // maximum of used since trimmable last reported true
	conns connTracker
}

// reservation is the memory that is reserved for one request. One goroutine uses it.
type reservation struct {
	*memoryBudget
	bytes int64
	conn  *trackedConn // the request's connection; nil: not tracked
}

// grow reserves n more bytes for a request. It fails with TooLarge if they would not fit even into an empty
// budget, and with Busy if they do not fit now. Idle connections are closed to free memory. If a connection
// has several requests, these together may use half of the budget. A single request may use all of it.
func (r *reservation) grow(n int64) error {
	most := r.limit
	if r.conn != nil {
		most -= r.conn.bytes.Load()
	}
	if r.bytes+n > most {
		return protocol.Refuse(protocol.TooLarge, "the request needs %d MiB of memory or more; all requests "+
			"together may use %d MiB", (r.bytes+n)>>20, most>>20)
	}
	if r.conn != nil {
		if others := r.conn.requestBytes.Add(n) - n - r.bytes; others > 0 && others+r.bytes+n > r.limit/2 {
			r.conn.requestBytes.Add(-n)
			return busy("requests of this connection use half of all of %d MiB; try again", r.limit>>20)
		}
	}
	for !r.reserve(n) {
		if r.conns.closeLongestIdle(nil) {
			continue
		}
		if r.conn != nil {
			r.conn.requestBytes.Add(-n)
		}
		return busy("requests under way use all of %d MiB; try again", r.limit>>20)
	}
	r.bytes += n
	return nil
}

// reserve reserves n bytes, and reports whether they fit.
func (r *memoryBudget) reserve(n int64) bool {
	now := r.used.Add(n)
	if now > r.limit {
		r.used.Add(-n)
		return false
	}
	for most := r.peak.Load(); now > most && !r.peak.CompareAndSwap(most, now); {
		most = r.peak.Load()
	}
	return true
}

// trimThreshold is the peak above which unused memory is returned to the system.
const trimThreshold = 32 << 20

// trimmable reports whether the used memory has fallen below a quarter of a peak that was above
// trimThreshold. It reports each peak once.
func (r *memoryBudget) trimmable() bool {
	most, now := r.peak.Load(), r.used.Load()
	return most >= trimThreshold && now < most/4 && r.peak.CompareAndSwap(most, now)
}

// requestBytes returns the bytes reserved by requests, without the bytes of connections.
func (r *memoryBudget) requestBytes() int64 {
	r.conns.mu.Lock()
	defer r.conns.mu.Unlock()
	return r.used.Load() - r.conns.bytes
}

// shrink releases n bytes.
func (r *reservation) shrink(n int64) {
	r.bytes -= n
	r.used.Add(-n)
	if r.conn != nil {
		r.conn.requestBytes.Add(-n)
	}
}

// release releases all bytes.
func (r *reservation) release() { r.shrink(r.bytes) }

func busy(format string, args ...any) error { return protocol.Refuse(protocol.Busy, format, args...) }
