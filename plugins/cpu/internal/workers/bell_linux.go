package workers

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell wakes sleeping workers by a futex. If a goroutine waits in any other way, the scheduler must return
// it to its thread, and this needs more time than many layers.
type bell struct {
	shared *goroutineBell // used instead of the futex if the process also does other work; otherwise nil
	asleep atomic.Bool    // a worker sleeps, or is about to
	rung   atomic.Uint32  // number of rings while a worker slept
}

// The operations of futex(2) on memory of one process.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// leaveThreads makes sleepers leave their threads to other goroutines of the program. It is called
// before the first sleep.
func (b *bell) leaveThreads() { b.shared = new(goroutineBell) }

// ring wakes all sleepers. If no worker sleeps, or if they are already being woken, it makes no system
// call, because the call can cost more than a task.
func (b *bell) ring() {
	if b.shared != nil {
		b.shared.ring()
		return
	}
	if b.asleep.Load() && b.asleep.Swap(false) {
		b.rung.Add(1)
		b.futexUnseen(futexWake, 1<<30, nil)
	}
}

// sleep returns when the bell has been rung, immediately if done returns true, and
// sometimes without a reason.
//
// Go's monitor retakes the P of a goroutine in a system call when it finds it there twice
// and no other P is idle, as on a machine where every core has a worker. After that it
// looks for more every 20 microseconds, for 4 milliseconds, and each look interrupts a
// computing thread: two workers that wait once in a millisecond lost a tenth of a core to
// it. So the first sleep is a raw system call, unknown to Go: it keeps the P, and a signal
// frees it if the world has to stop. Later sleeps are short, because a worker that stays
// longer than 10 milliseconds alerts the monitor, too.
func (b *bell) sleep(done func() bool) {
	if b.shared != nil {
		b.shared.sleep(done)
		return
	}
	const short, naps = 8 * time.Millisecond, 64
	limit := unix.NsecToTimespec(int64(short))
	rung := b.rung.Load()
	for n := 0; ; n++ {
		b.asleep.Store(true)
		if done() || b.rung.Load() != rung {
			return
		}
		if n > 0 {
			runtime.Gosched() // shows the monitor that the goroutine is alive
		}
		switch {
		case n == 0:
			b.futexUnseen(futexWait, rung, &limit)
		case n < naps:
			b.futex(futexWait, rung, &limit)
		default:
			b.futex(futexWait, rung, nil)
		}
	}
}

// futex makes the system call. Its errors mean that the value has changed or that a signal
// arrived; a sleeper checks again in both cases.
func (b *bell) futex(op int, value uint32, limit *unix.Timespec) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), uintptr(op), uintptr(value),
		uintptr(unsafe.Pointer(limit)), 0, 0)
}

// futexUnseen is like futex but in a raw system call.
func (b *bell) futexUnseen(op int, value uint32, limit *unix.Timespec) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), uintptr(op), uintptr(value),
		uintptr(unsafe.Pointer(limit)), 0, 0)
}
