package devicetest

import (
	"context"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// mostLent is how many cases one opened device serves at most.
const mostLent = 64

// mostResident is how much memory a process may have that serves another case: one that keeps
// memory of every call would take all that there is.
const mostResident = 2 << 30

// lender keeps a device that a case has closed for the next case: to start a process takes
// longer than most cases. Only a device that is as new is kept: one that has joined no group,
// and has freed its executables.
type lender struct {
	open Opener

	mu     sync.Mutex
	idle   *lent // nil: the next case opens one
	closed bool
}

// device lends a device.
func (l *lender) device(ctx context.Context, precision string) (device.Device, error) {
	l.mu.Lock()
	d := l.idle
	if d != nil && d.at == precision {
		l.idle = nil
		l.mu.Unlock()
		return &lent{Device: d.Device, lender: l, used: d.used + 1, at: precision}, nil
	}
	l.mu.Unlock()
	fresh, err := l.open(ctx, precision)
	if err != nil {
		return nil, err
	}
	return &lent{Device: fresh, lender: l, at: precision}, nil
}

// drop closes what is idle: its last case failed, or no more cases come.
func (l *lender) drop() {
	l.mu.Lock()
	d := l.idle
	l.idle = nil
	l.mu.Unlock()
	if d != nil {
		_ = d.Device.Close() // cases judge closing
	}
}

// end closes what is idle, and what comes back later.
func (l *lender) end() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.drop()
}

// lent is a device of a lender in the hands of a case.
type lent struct {
	device.Device
	lender *lender
	used   int    // cases before
	at     string // its precision
	once   sync.Once

	mu     sync.Mutex
	joined bool
	loaded []device.Executable
}

func (d *lent) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.loaded = append(d.loaded, x)
	}
	return x, err
}

func (d *lent) Join(ctx context.Context, g device.Group) error {
	d.mu.Lock()
	d.joined = true
	d.mu.Unlock()
	return d.Device.Join(ctx, g)
}

// Close gives the device back if it is as new, else it closes it.
func (d *lent) Close() (err error) {
	d.once.Do(func() {
		if !d.renewed() || !d.back() {
			err = d.Device.Close()
		}
	})
	return err
}

// renewed frees what was loaded, and reports whether the device is as new then.
func (d *lent) renewed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.loaded {
		if x.Close() != nil {
			return false
		}
	}
	return !d.joined && d.used < mostLent && residentBytes(d.Info().Process) < mostResident
}

// back gives the device to its lender, and reports whether that has taken it.
func (d *lent) back() bool {
	l := d.lender
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.idle != nil {
		return false
	}
	l.idle = d
	return true
}
