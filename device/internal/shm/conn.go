package shm

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Conn is one side of a connection: an io.ReadWriteCloser. The other side sees written
// bytes after Flush at the latest. One goroutine at a time may read, and one may write. Any
// goroutine may call Close, which makes reads and writes in progress return Closed. Close
// does not notify the other process. The code that watches the process must do that.
type Conn struct {
	in, out *ring
	closed  atomic.Bool
	segment []byte
	inUse   sync.RWMutex // held for reading while the segment is touched
}

// Host returns the side of the process that created the segment. From now on the Conn owns the mapping of
// the segment, and bell. bell is the reading end of a pipe, and may be nil. Host reads from the pipe
// instead of sleeping on a futex, since this blocks no thread.
func Host(segment []byte, bell *os.File) (*Conn, error) {
	c, err := newConn(segment, 0, 1)
	if err == nil {
		c.in.bellRead = bell
	}
	return c, err
}

// Guest returns the side of the process that inherited the segment. From now on the Conn owns the mapping
// of the segment, and bell. bell is the writing end of the host's pipe, or nil if the host has no pipe.
func Guest(segment []byte, bell *os.File) (*Conn, error) {
	c, err := newConn(segment, 1, 0)
	if err == nil {
		c.out.bellWrite = bell
	}
	return c, err
}

// Link returns one side of a connection of two processes that have each mapped the segment. first selects
// the side. From now on the Conn owns the mapping of the segment and two ends of pipes: bell, which wakes
// this side, and other, which wakes the other side.
func Link(segment []byte, first bool, bell, other *os.File) (*Conn, error) {
	c, err := newConn(segment, side(first), side(!first))
	if err == nil {
		c.in.bellRead, c.out.bellWrite = bell, other
	}
	return c, err
}

// side returns the number of the ring that a side of a link writes to.
func side(first bool) int {
	if first {
		return 0
	}
	return 1
}

// Mark is written into the segment by a side of a link. A process that finds the other
// side's mark has mapped the same memory.
type Mark [16]byte

// MarkOf returns a pointer to a side's mark in a segment.
func MarkOf(segment []byte, first bool) *Mark {
	end := side(first)*Bytes/2 + ringHeader
	return (*Mark)(segment[end-len(Mark{}) : end])
}

func newConn(segment []byte, out, in int) (*Conn, error) {
	if len(segment) != Bytes {
		return nil, fmt.Errorf("shared memory: segment of %d bytes, want %d", len(segment), Bytes)
	}
	const one = Bytes / 2
	c := &Conn{segment: segment}
	c.out = newRing(segment[out*one:out*one+one], &c.closed)
	c.in = newRing(segment[in*one:in*one+one], &c.closed)
	return c, nil
}

// SetWaitPolicy sets how this side and the other side wait for bytes.
func (c *Conn) SetWaitPolicy(local, peer WaitPolicy) {
	_ = c.use(func() error {
		c.in.waitPolicy.Store(uint32(local))
		c.out.waitPolicy.Store(uint32(peer))
		return nil
	})
}

// Write writes all of p.
func (c *Conn) Write(p []byte) (int, error) {
	if err := c.use(func() error { return c.out.write(p) }); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush makes written bytes visible to the other side.
func (c *Conn) Flush() error {
	return c.use(func() error {
		c.out.publish()
		return nil
	})
}

// Available returns how many bytes can be written without waiting.
func (c *Conn) Available() (n int) {
	_ = c.use(func() error {
		free, err := c.out.free()
		n = int(free)
		return err
	})
	return n
}

// Read reads at least one byte if p is not empty.
func (c *Conn) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	err = c.use(func() error {
		n, err = c.in.take(p)
		return err
	})
	return n, err
}

// Await reports whether there are bytes to read. It waits for at most d; a signal ends the wait
// early. If d is at most 8 milliseconds, Await sleeps in a raw system call that Go's scheduler
// does not see. Otherwise Go's monitor thread would check every 20 microseconds whether the call
// has ended, on a core that a device may be using. During a raw call the goroutine keeps its P
// (its share of GOMAXPROCS). Therefore use Await for short times, in a process with little else
// to do.
func (c *Conn) Await(d time.Duration) (ready bool) {
	_ = c.use(func() error {
		ready = c.in.peek(d)
		return nil
	})
	return ready
}

// use calls f unless the connection is closed, and keeps the segment mapped meanwhile.
func (c *Conn) use(f func() error) error {
	c.inUse.RLock()
	defer c.inUse.RUnlock()
	if c.closed.Load() {
		return Closed
	}
	return f()
}

// Close ends the connection on this side and unmaps the segment. Closing
// twice is legal.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.in.data.ring()
	c.out.space.ring()
	var err error
	for _, f := range []*os.File{c.in.bellRead, c.out.bellWrite} {
		if f != nil {
			err = errors.Join(err, f.Close()) // ends a Read in progress
		}
	}
	c.inUse.Lock()
	defer c.inUse.Unlock()
	return errors.Join(err, Unmap(c.segment))
}
