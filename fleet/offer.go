package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// Offer is a device.Provider of the devices of this machine, for hosts on other machines. It starts
// their plugins, and opens a device when a host requests it. A device is open for one host at a time.
type Offer struct {
	fleet   *Fleet
	targets []target

	mu   sync.Mutex
	open map[string]bool // open devices by ID
}

// NewOffer finds the devices that o names. The caller closes the offer. The errors are as for Open.
func NewOffer(ctx context.Context, o Options) (*Offer, error) {
	f, specs, err := prepare(o)
	if err != nil {
		return nil, err
	}
	offer := &Offer{fleet: f, open: map[string]bool{}}
	if err = offer.find(ctx, specs); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return offer, nil
}

// find gives each device the name that a run of this machine would use.
func (o *Offer) find(ctx context.Context, specs []spec) error {
	for _, s := range specs {
		if onMachine(s.name) {
			return problem.New("devices", s.name, "a machine offers its own devices only", "")
		}
	}
	targets, err := o.fleet.resolve(ctx, specs)
	if err != nil {
		return err
	}
	if err := o.fleet.divideThreads(targets); err != nil {
		return err
	}
	count := map[string]int{}
	for _, t := range targets {
		if t.repeats {
			t.name = fmt.Sprintf("%s:%d", t.plugin, count[t.plugin])
			count[t.plugin]++
		}
		for _, other := range o.targets {
			if other.name == t.name {
				return problem.New("devices", o.fleet.options.Devices, t.name+" is named twice", "")
			}
		}
		o.targets = append(o.targets, t)
	}
	return nil
}

// Describe implements device.Provider.
func (o *Offer) Describe() device.Plugin {
	return device.Plugin{Name: "machine", Version: "1",
		About: problem.Plural(len(o.targets), "device") + " of a machine"}
}

// List implements device.Provider. The ID of a device is the name that a run of this machine would
// use: "cpu:1".
func (o *Offer) List(context.Context) (devices []device.Info, reason string, err error) {
	for _, t := range o.targets {
		i := t.info
		i.ID, i.Name = t.name, t.name
		devices = append(devices, i)
	}
	return devices, "", nil
}

// Open implements device.Provider. The device uses the threads of the offer, not those that the host
// requests. The error is of kind Unavailable if another host has the device.
func (o *Offer) Open(ctx context.Context, id string, options device.Options) (device.Device, error) {
	for _, t := range o.targets {
		if t.name != id {
			continue
		}
		if !o.take(id) {
			return nil, device.Errorf(id, "Open", device.Unavailable, "the device is in use")
		}
		options.Threads = o.fleet.device.Threads
		d, err := o.fleet.providers[t.plugin].OpenAs(ctx, id, t.id, options)
		if err != nil {
			o.release(id)
			return nil, err
		}
		return &offered{Device: d, release: sync.OnceFunc(func() { o.release(id) })}, nil
	}
	return nil, device.Errorf(id, "Open", device.Invalid, "the machine has no such device")
}

func (o *Offer) take(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[id] {
		return false
	}
	o.open[id] = true
	return true
}

func (o *Offer) release(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, id)
}

// Close ends the plugins.
func (o *Offer) Close() error { return o.fleet.Close() }

// offered is an open device. After it is closed, another host may open it.
type offered struct {
	device.Device
	release func()
}

// Close implements device.Device.
func (d *offered) Close() error {
	defer d.release()
	return d.Device.Close()
}
