package python_test

import (
	"context"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
)

// pool reuses devices of a plugin that were closed: starting Python is slower than any
// case. Only devices that never joined a group are as good as new.
type pool struct {
	plugin *remote.Plugin

	mu   sync.Mutex
	idle []device.Device
}

// open opens a device at F32, the only precision that the plugin has.
func (p *pool) open(ctx context.Context, _ string) (device.Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		d := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return &pooled{Device: d, pool: p}, nil
	}
	d, err := p.plugin.Open(ctx, device.DefaultID, device.Options{})
	if err != nil {
		return nil, err
	}
	return &pooled{Device: d, pool: p}, nil
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.idle {
		d.Close()
	}
}

// pooled is a device that goes back to its pool.
type pooled struct {
	device.Device
	pool   *pool
	joined bool
	once   sync.Once
}

func (d *pooled) Join(ctx context.Context, g device.Group) error {
	d.joined = true
	return d.Device.Join(ctx, g)
}

func (d *pooled) Close() (err error) {
	d.once.Do(func() {
		if d.joined {
			err = d.Device.Close()
			return
		}
		d.pool.mu.Lock()
		defer d.pool.mu.Unlock()
		d.pool.idle = append(d.pool.idle, d.Device)
	})
	return err
}
