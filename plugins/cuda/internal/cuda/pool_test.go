package cuda

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/gpu"
)

// pool keeps the contexts of closed devices for the next device: creating a context needs a
// third of a second, and conformance opens a device for every case.
type pool struct {
	create func(uuid string) (gpu.Driver, error)

	mu   sync.Mutex
	free []gpu.Driver
}

func (p *pool) open(uuid string) (gpu.Driver, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		d := p.free[n-1]
		p.free = p.free[:n-1]
		return pooled{d, p}, nil
	}
	d, err := p.create(uuid)
	return pooled{d, p}, err
}

// pooled is a driver that is returned to its pool when it is closed.
type pooled struct {
	gpu.Driver
	of *pool
}

// Close returns the context to the pool. If Wait fails, Close closes the context, because after a fault all
// calls on it fail.
func (d pooled) Close() error {
	if d.Wait() != nil {
		return d.Driver.Close()
	}
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	d.of.free = append(d.of.free, d.Driver)
	return nil
}

// counted is a driver without hardware that counts its buffers. It can be made to fail.
type counted struct {
	gpu.Driver
	buffers *int
	broken  *bool
}

func (d counted) Alloc(bytes int) (gpu.Buffer, error) {
	*d.buffers++
	return d.Driver.Alloc(bytes)
}

func (d counted) Free(b gpu.Buffer) error {
	*d.buffers--
	return d.Driver.Free(b)
}

func (d counted) Wait() error {
	if *d.broken {
		return errors.New("an illegal address")
	}
	return nil
}

// TestPool checks that a closed device leaves no buffer in its context, whatever a case did to the device.
// A context is not used again after a fault.
func TestPool(t *testing.T) {
	created, buffers, broken := 0, 0, false
	p := pool{create: func(string) (gpu.Driver, error) {
		created++
		return counted{noted{map[string]int{}, new(gpu.Buffer), withoutUnits}, &buffers, &broken}, nil
	}}
	open := func(context.Context, string) (device.Device, error) {
		d, err := p.open("")
		return gpu.New(anyGPU, d), err
	}
	for i, c := range devicetest.Cases() {
		if i%20 > 0 {
			continue
		}
		c.Judge(t.Context(), open, device.F32) // its outcome has no meaning: nothing is computed
		if buffers != 0 {
			t.Fatalf("%s leaves %d buffers", c.Name, buffers)
		}
	}
	if created > 8 {
		t.Errorf("%d contexts were created, want one for each device of the largest group", created)
	}
	had := len(p.free)
	d, err := p.open("")
	if err != nil {
		t.Fatal(err)
	}
	broken = true
	d.Close()
	if len(p.free) != had-1 {
		t.Error("a context is kept after a fault")
	}
}
