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
		b.futexUnseen(futexWake, 1<<30, nil)
	}
}

// sleep returns when the bell has been rung, at once if there is no reason to
// sleep any more, and sometimes for none.
//
// Go's monitor takes the P of a goroutine that is in a system call when it sees it there twice and
// no other P is free, as where every core has a worker. Having taken one it looks every 20
// microseconds for more, for 4 milliseconds, and each look interrupts somebody who computes: two
// workers that wait once in a millisecond lost a tenth of a core to it. So the first sleep is
// a raw system call, of which Go does not know: it keeps the P, which a signal frees if all are to stop.
// Those behind it are short: a worker that stays longer than 10 milliseconds calls the monitor, too.
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

// futex makes the system call. Its errors say that the value has changed or
// that a signal came: a sleeper looks again in each case.
func (b *bell) futex(op int, value uint32, limit *unix.Timespec) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), uintptr(op), uintptr(value),
		uintptr(unsafe.Pointer(limit)), 0, 0)
}

// futexUnseen is futex in a raw system call.
func (b *bell) futexUnseen(op int, value uint32, limit *unix.Timespec) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rung)), uintptr(op), uintptr(value),
		uintptr(unsafe.Pointer(limit)), 0, 0)
}
