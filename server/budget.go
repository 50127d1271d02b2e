package server

import (
	"sync/atomic"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// room is the bytes that peers may make the server hold, all of them together:
// connections, headers, bodies, what is made of them, and answers that are not
// yet taken.
type room struct {
	limit int64
	taken atomic.Int64
	most  atomic.Int64 // that was taken since ebbed
	conns connections
}

// lease is the bytes that one request takes. One goroutine uses it.
type lease struct {
	*room
	held int64
	from *connection // nil: it is counted for no connection
}

// grow takes more bytes, unless there is no room for them: now, or however long
// the client waits. Connections on which nothing is asked make room. Requests of
// one connection take half of all at most, unless it is one alone.
func (l *lease) grow(n int64) error {
	most := l.limit
	if l.from != nil {
		most -= l.from.held.Load()
	}
	if l.held+n > most {
		return protocol.Refuse(protocol.TooLarge, "the request takes %d MiB of memory or more; all requests "+
			"together may take %d MiB", (l.held+n)>>20, most>>20)
	}
	if l.from != nil {
		if others := l.from.asked.Add(n) - n - l.held; others > 0 && others+l.held+n > l.limit/2 {
			l.from.asked.Add(-n)
			return busy("requests of this connection take half of all of %d MiB; try again", l.limit>>20)
		}
	}
	for !l.take(n) {
		if l.conns.closeOldest(nil) {
			continue
		}
		if l.from != nil {
			l.from.asked.Add(-n)
		}
		return busy("requests under way take all of %d MiB; try again", l.limit>>20)
	}
	l.held += n
	return nil
}

// take takes bytes, and reports whether there was room for them.
func (r *room) take(n int64) bool {
	now := r.taken.Add(n)
	if now > r.limit {
		r.taken.Add(-n)
		return false
	}
	for most := r.most.Load(); now > most && !r.most.CompareAndSwap(most, now); {
		most = r.most.Load()
	}
	return true
}

// muchTaken is what is worth to be given back to the system.
const muchTaken = 32 << 20

// ebbed reports whether much was taken since it last reported so, and little is now.
func (r *room) ebbed() bool {
	most, now := r.most.Load(), r.taken.Load()
	return most >= muchTaken && now < most/4 && r.most.CompareAndSwap(most, now)
}

// asked returns the bytes that requests take.
func (r *room) asked() int64 {
	r.conns.mu.Lock()
	defer r.conns.mu.Unlock()
	return r.taken.Load() - r.conns.own
}

// shrink gives some bytes back.
func (l *lease) shrink(n int64) {
	l.held -= n
	l.taken.Add(-n)
	if l.from != nil {
		l.from.asked.Add(-n)
	}
}

// end gives all bytes back.
func (l *lease) end() { l.shrink(l.held) }

func busy(format string, args ...any) error { return protocol.Refuse(protocol.Busy, format, args...) }
