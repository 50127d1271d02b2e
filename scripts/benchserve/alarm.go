package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes a goroutine with a precision of some ten microseconds. Go's timers are up to a millisecond late
// when nothing else runs.
type alarm struct {
	*os.File
	timer int
}

func newAlarm() *alarm {
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		panic("benchserve: " + err.Error()) // the process can open no more files
	}
	return &alarm{os.NewFile(uintptr(timer), "timer"), timer}
}

// sleep returns after a duration. It does not occupy a thread.
func (a *alarm) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	_ = unix.TimerfdSettime(a.timer, 0, &at, nil) // cannot fail: the descriptor is a timer, and d is valid
	_, _ = a.Read(make([]byte, 8))
}
