//go:build !linux

package rank

import "time"

// bell wakes a thread that naps.
type bell struct{ rung chan struct{} }

func newBell() (*bell, error) { return &bell{make(chan struct{}, 1)}, nil }

// ring ends the nap, or the next.
func (b *bell) ring() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

// nap returns when the bell has been rung, or after d.
func (b *bell) nap(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-b.rung:
	case <-t.C:
	}
}
