package devicetest

import (
	"context"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// maxReuses is the maximum number of cases for one opened device.
const maxReuses = 64

// maxResident is the number of bytes of memory above which a process does not serve another case. Without
// this limit, a process that leaks in every call would use up all memory.
const maxResident = 2 << 30

// deviceCache keeps a device that a case has closed, and passes it to the next case, because
// starting a process is slower than most cases. A device is cached only if it has not joined
// a group and has freed its executables.
type deviceCache struct {
	open Opener

	mu     sync.Mutex
	idle   *cachedDevice // nil: the next case opens a device
	closed bool
}

// device returns the cached device, or opens one.
func (l *deviceCache) device(ctx context.Context, precision string) (device.Device, error) {
	l.mu.Lock()
	d := l.idle
	if d != nil && d.precision == precision {
		l.idle = nil
		l.mu.Unlock()
		return &cachedDevice{Device: d.Device, cache: l, used: d.used + 1, precision: precision}, nil
	}
	l.mu.Unlock()
	fresh, err := l.open(ctx, precision)
	if err != nil {
		return nil, err
	}
	return &cachedDevice{Device: fresh, cache: l, precision: precision}, nil
}

// drop closes the idle device. It is called after a case has failed, and at the end.
func (l *deviceCache) drop() {
	l.mu.Lock()
	d := l.idle
	l.idle = nil
	l.mu.Unlock()
	if d != nil {
		_ = d.Device.Close() // other cases test the error of Close
	}
}

// end closes the idle device. Devices that are closed later are not cached any more.
func (l *deviceCache) end() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.drop()
}

// cachedDevice is a device of the cache that a case uses.
type cachedDevice struct {
	device.Device
	cache     *deviceCache
	used      int    // number of earlier cases that used the device
	precision string // precision of the device
	once      sync.Once

	mu     sync.Mutex
	joined bool
	loaded []device.Executable
}

func (d *cachedDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.loaded = append(d.loaded, x)
	}
	return x, err
}

func (d *cachedDevice) Join(ctx context.Context, g device.Group) error {
	d.mu.Lock()
	d.joined = true
	d.mu.Unlock()
	return d.Device.Join(ctx, g)
}

// Close returns the device to the cache if it can serve another case. Otherwise it closes the device.
func (d *cachedDevice) Close() (err error) {
	d.once.Do(func() {
		if !d.renewed() || !d.putBack() {
			err = d.Device.Close()
		}
	})
	return err
}

// renewed frees the loaded programs, and reports whether the device can serve another case.
func (d *cachedDevice) renewed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.loaded {
		if x.Close() != nil {
			return false
		}
	}
	return !d.joined && d.used < maxReuses && residentBytes(d.Info().Process) < maxResident
}

// putBack returns the device to the cache, and reports whether the cache has accepted it.
func (d *cachedDevice) putBack() bool {
	l := d.cache
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.idle != nil {
		return false
	}
	l.idle = d
	return true
}
