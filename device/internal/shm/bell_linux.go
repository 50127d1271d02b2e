package shm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations of futex(2). Not the private ones: the memory is shared.
const (
	futexWait = 0
	futexWake = 1
)

// bell wakes sleepers in other processes.
type bell struct {
	rung     atomic.Uint32 // how often; what the futex watches
	sleepers atomic.Int32  // how many sleep or are about to, and died so
}

func (b *bell) count() uint32 { return b.rung.Load() }

// ring wakes whoever sleeps. Nobody asleep costs no system call.
func (b *bell) ring() {
	b.rung.Add(1)
	if b.sleepers.Load() != 0 {
		b.futex(futexWake, 1<<30, nil)
	}
}

// sleep returns when the bell has been rung since count gave seen, after at
// most d, or for no reason.
func (b *bell) sleep(seen uint32, d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	b.sleepers.Add(1)
	b.futex(futexWait, seen, &t)
	b.sleepers.Add(-1)
}

// sleepUnseen is sleep in a system call that Go does not hear of.
func (b *bell) sleepUnseen(seen uint32, d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	b.sleepers.Add(1)
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), futexWait, uintptr(seen),
		uintptr(unsafe.Pointer(&t)), 0, 0)
	b.sleepers.Add(-1)
}

// yield lets others of this core run, the peer perhaps: it may have been put
// onto the core of the one who waits for it.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// futex makes the system call. Its errors say that the value has changed, that
// the time is over or that a signal came: the caller looks again in each case.
func (b *bell) futex(op int, value uint32, timeout *unix.Timespec) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), uintptr(op), uintptr(value),
		uintptr(unsafe.Pointer(timeout)), 0, 0)
}
