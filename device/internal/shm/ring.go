package shm

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"
)

// ringHeader is the size of a ring's counters in bytes. Each counter has a separate cache
// line, so that the sides don't disturb each other.
const ringHeader = 512

// counters is the head of a ring, as both processes see it.
type counters struct {
	written    atomic.Uint64 // bytes written since the beginning; set by the producer
	origin     atomic.Uint64 // number of the byte at the start of the memory; set by the producer
	_          [48]byte
	read       atomic.Uint64 // bytes read since the beginning; set by the consumer
	_          [56]byte
	data       bell // rung when bytes have been written
	_          [56]byte
	space      bell // rung when bytes have been read
	_          [56]byte
	waitPolicy atomic.Uint32 // the WaitPolicy of the reader
	listening  atomic.Uint32 // whether the reader waits for a byte in the pipe
}

// ring is one direction of a connection, as one of its sides sees it.
type ring struct {
	*counters
	memory    []byte
	closed    *atomic.Bool
	pos       uint64        // bytes that this side has written or read
	published uint64        // value of this side's counter in shared memory
	usual     time.Duration // usual time that this side waits, if it is longer than shortSpin

	bellRead  *os.File // the reader's end of the pipe that wakes the reader; nil without a pipe
	bellWrite *os.File // the writer's end of the pipe; nil without a pipe
}

func newRing(memory []byte, closed *atomic.Bool) *ring {
	return &ring{
		counters: (*counters)(unsafe.Pointer(unsafe.SliceData(memory))),
		memory:   memory[ringHeader:],
		closed:   closed,
	}
}

// used returns the number of bytes that were written but not read, from the two counters.
func (r *ring) used(written, read uint64) (uint64, error) {
	if n := written - read; n <= uint64(len(r.memory)) {
		return n, nil
	}
	return 0, fmt.Errorf("shared memory: ring of %d bytes says that it holds %d", len(r.memory), written-read)
}

// window returns up to n bytes of the memory from pos on; it ends at the end of the memory. If the other
// side has stored an invalid origin, window returns wrong bytes, but never bytes outside of the memory.
func (r *ring) window(n uint64) []byte {
	at := (r.pos - r.origin.Load()) % uint64(len(r.memory))
	return r.memory[at:min(at+n, uint64(len(r.memory)))]
}

// write copies p into the ring, and waits for space. It publishes the written bytes after every
// pieceBytes bytes; publish publishes the rest. If the ring is empty, write begins at the start of
// the memory, so that successive messages use the same memory, which is in the caches of both sides
// and has mapped pages.
func (r *ring) write(p []byte) error {
	for len(p) > 0 {
		free, err := r.free()
		if err != nil {
			return err
		}
		if free == 0 {
			r.publish()
			full := r.pos - uint64(len(r.memory))
			if err := r.sleep(&r.space, func() bool { return r.read.Load() != full }); err != nil {
				return err
			}
			continue
		}
		if free == uint64(len(r.memory)) {
			r.origin.Store(r.pos)
		}
		n := copy(r.window(min(free, pieceBytes)), p)
		p, r.pos = p[n:], r.pos+uint64(n)
		if r.pos-r.published >= pieceBytes {
			r.publish()
		}
	}
	return nil
}

// pieceBytes is the number of bytes after which the other side may begin to read, so that it copies one
// piece while the next is written.
const pieceBytes = RingBytes / 64

func (r *ring) free() (uint64, error) {
	used, err := r.used(r.pos, r.read.Load())
	return uint64(len(r.memory)) - used, err
}

// publish makes the written bytes visible to the consumer.
func (r *ring) publish() {
	if r.published != r.pos {
		r.published = r.pos
		r.written.Store(r.pos)
		r.data.ring()
		r.wakeReader()
	}
}

// take waits for bytes and copies at least one byte into p. It copies at most pieceBytes, so that
// the other side can continue soon, and because Go copies longer ranges without using the caches.
func (r *ring) take(p []byte) (int, error) {
	if r.written.Load() == r.pos {
		if err := r.await(); err != nil {
			return 0, err
		}
	}
	have, err := r.used(r.written.Load(), r.pos)
	if err != nil {
		return 0, err
	}
	n := copy(p, r.window(min(have, pieceBytes)))
	r.pos += uint64(n)
	r.read.Store(r.pos)
	r.space.ring()
	return n, nil
}
