package cpu

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell wakes those who sleep: by a futex, because a goroutine that waits in
// any other way is put to its thread again by the scheduler, which takes
// longer than many a layer.
type bell struct {
	sleepers atomic.Int32  // who sleep or are about to
	rung     atomic.Uint32 // how often while somebody slept
}

// The operations of futex(2) on memory of one process.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// ring wakes who sleeps. If nobody does it costs nothing.
func (b *bell) ring() {
	if b.sleepers.Load() != 0 {
		b.rung.Add(1)
		b.futex(futexWake, 1<<30)
	}
}

// sleep returns when the bell has been rung, at once if there is no reason to
// sleep any more, and sometimes for none.
func (b *bell) sleep(over func() bool) {
	b.sleepers.Add(1)
	if seen := b.rung.Load(); !over() {
		b.futex(futexWait, seen)
	}
	b.sleepers.Add(-1)
}

// futex makes the system call. Its errors say that the value has changed or
// that a signal came: who sleeps looks again in each case.
func (b *bell) futex(op int, value uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), uintptr(op), uintptr(value), 0, 0, 0)
}

// yield lets others have the core.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
