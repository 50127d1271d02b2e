// Package shm transfers bytes between two processes through shared memory: two rings of
// bytes, one in each direction, with a futex for sleeping.
//
// The memory is an anonymous file that the child process inherits. No file remains,
// whichever side dies first (docs/design/shared-memory.md).
//
// Neither side trusts the counters of the other. If the counters of a ring indicate more
// bytes than the ring can hold, the connection ends.
package shm

import "errors"

// RingBytes is the capacity of a ring in bytes. It is a power of two.
const RingBytes = 4 << 20

// Bytes is the length of a segment: two rings and their counters.
const Bytes = 2 * (ringHeader + RingBytes)

// Closed is the error of operations on a connection that has ended.
var Closed = errors.New("shared memory: connection closed")

// Unsupported is the error of New and Map on systems without this kind of shared memory.
var Unsupported = errors.New("shared memory: not supported on this system")
