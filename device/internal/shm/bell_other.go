//go:build !linux

package shm

import (
	"os"
	"sync/atomic"
	"time"
)

// bell has no function on systems without futex: it only gives the counters their layout.
type bell struct {
	rung     atomic.Uint32
	sleepers atomic.Int32
}

func (b *bell) count() uint32 { return b.rung.Load() }

func (b *bell) ring() { b.rung.Add(1) }

func (b *bell) sleepUnseen(seen uint32, d time.Duration) { b.sleep(seen, d) }

func (b *bell) sleep(_ uint32, _ time.Duration) { time.Sleep(100 * time.Microsecond) }

func wakePipe(pipe *os.File) { _, _ = pipe.Write([]byte{1}) }

func awaitBell(pipe *os.File) error {
	var rings [64]byte
	_, err := pipe.Read(rings[:])
	return err
}
