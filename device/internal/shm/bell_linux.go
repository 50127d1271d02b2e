package shm

import (
	"io"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of futex(2), without FUTEX_PRIVATE_FLAG, because processes share the memory.
const (
	futexWait = 0
	futexWake = 1
)

// The errors of futex(2) are ignored. They mean that the value has changed, that the time is over, or
// that a signal has arrived. In each case the sleeper checks its condition again.

// bell wakes sleepers in other processes.
type bell struct {
	rung     atomic.Uint32 // number of rings; the futex watches it
	sleepers atomic.Int32  // number of processes that sleep, are about to sleep, or died while doing so
}

func (b *bell) count() uint32 { return b.rung.Load() }

// ring wakes all sleepers. It makes a system call only if there are sleepers. The call never
// blocks, so ring uses a raw system call, which Go's scheduler does not see. A normal system
// call would wake Go's monitor thread, which then runs every 20 microseconds for a millisecond.
func (b *bell) ring() {
	b.rung.Add(1)
	if b.sleepers.Load() != 0 {
		_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), futexWake, 1<<30, 0, 0, 0)
	}
}

// sleep sleeps until the bell rings, but at most for the time d. It returns at once if the bell has rung
// since count returned seen. It may also return earlier for no reason.
func (b *bell) sleep(seen uint32, d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	b.sleepers.Add(1)
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), futexWait, uintptr(seen),
		uintptr(unsafe.Pointer(&t)), 0, 0)
	b.sleepers.Add(-1)
}

// sleepUnseen is like sleep but in a raw system call, which Go's scheduler does not see.
func (b *bell) sleepUnseen(seen uint32, d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	b.sleepers.Add(1)
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), futexWait, uintptr(seen),
		uintptr(unsafe.Pointer(&t)), 0, 0)
	b.sleepers.Add(-1)
}

// wakePipe writes a byte into a pipe that is not full, by a raw system call: see ring.
func wakePipe(pipe *os.File) {
	if c, err := pipe.SyscallConn(); err == nil {
		_ = c.Write(func(fd uintptr) bool {
			_, _, _ = unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&bellByte)), 1)
			return true
		})
	}
}

var bellByte byte

// awaitBell waits until there are bytes in a pipe, and reads them. The goroutine
// waits in Go's poller; the system calls themselves, which do not wait, are raw:
// see ring.
func awaitBell(pipe *os.File) error {
	c, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	var rings [64]byte
	ended := false
	err = c.Read(func(fd uintptr) bool {
		n, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&rings[0])), uintptr(len(rings)))
		ended = errno == 0 && n == 0 || errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR
		return errno != unix.EAGAIN
	})
	if err == nil && ended {
		err = io.EOF
	}
	return err
}
