package rank

import (
	"time"

	"golang.org/x/sys/unix"
)

// bell wakes a thread that naps. It is a descriptor and not a channel, for Go's
// timers end up to a millisecond late where nothing else happens.
type bell struct{ event int }

func newBell() (*bell, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil { // a nap is to end when it should, not 50 microseconds later
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	}
	return &bell{fd}, err
}

// ring ends the nap, or the next.
func (b *bell) ring() { _, _ = unix.Write(b.event, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// nap returns when the bell has been rung, or after d.
func (b *bell) nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	if n, _ := unix.Ppoll([]unix.PollFd{{Fd: int32(b.event), Events: unix.POLLIN}}, &t, nil); n > 0 {
		var count [8]byte
		_, _ = unix.Read(b.event, count[:])
	}
}
