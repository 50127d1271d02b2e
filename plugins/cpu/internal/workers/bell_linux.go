package workers

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell wakes sleeping workers: by a futex, because a goroutine that waits in
// any other way is put to its thread again by the scheduler, which takes
// longer than many a layer.
type bell struct {
	asleep atomic.Bool   // somebody sleeps, or is about to, whom nobody has woken yet
	rung   atomic.Uint32 // how often while somebody slept
}

// The operations of futex(2) on memory of one process.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// ring wakes all sleepers. Without any it costs nothing, nor while those that were woken come: the call takes
// as long as many a task.
func (b *bell) ring() {
	if b.asleep.Load() && b.asleep.Swap(false) {
		b.rung.Add(1)
		b.futex(futexWake, 1<<30, nil)
	}
}

// sleep returns when the bell has been rung, at once if there is no reason to
// sleep any more, and sometimes for none. It begins with short sleeps: a worker that stays
// longer than 10 milliseconds in the system calls Go's monitor to the scene, and
// that then looks every 20 microseconds, on a core where somebody computes.
func (b *bell) sleep(over func() bool) {
	const short, naps = 8 * time.Millisecond, 64
	limit := unix.NsecToTimespec(int64(short))
	rung := b.rung.Load()
	for n := 0; ; n++ {
		b.asleep.Store(true)
		if over() || b.rung.Load() != rung {
			return
		}
		if n > 0 {
			runtime.Gosched() // to the monitor this is a sign of life
		}
		if n < naps {
			b.futex(futexWait, rung, &limit)
		} else {
			b.futex(futexWait, rung, nil)
		}
	}
}

// futex makes the system call. Its errors say that the value has changed or
// that a signal came: a sleeper looks again in each case.
func (b *bell) futex(op int, value uint32, limit *unix.Timespec) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), uintptr(op), uintptr(value),
		uintptr(unsafe.Pointer(limit)), 0, 0)
}
