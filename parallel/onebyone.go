package parallel

import (
	"context"
	"sync/atomic"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/tensor"
)

// A LocalSGD has a state for each replica. It runs one replica after the other on a device, and the
// driver provides the devices:
//
//	replicaDevices    the devices of a Driver       weightsync.Devices
//	replicaDevice     one of them                   weightsync.Device

// OneByOne returns the devices for a LocalSGD. The driver has Config.Local, and its Step and Commit are not
// called.
func (d *Driver) OneByOne() weightsync.Devices { return (*replicaDevices)(d) }

// replicaDevices is a Driver that runs one replica after the other on each device.
type replicaDevices Driver

func (d *replicaDevices) Program() *graph.Program { return d.program.current }
func (d *replicaDevices) Replicas() int           { return d.config.Replicas }
func (d *replicaDevices) Devices() int            { return len(d.group.members) }

// Each implements weightsync.Devices. Other devices replace a lost one.
func (d *replicaDevices) Each(ctx context.Context, done func(r int) bool,
	f func(weightsync.Device, int) error) error {
	for {
		err := d.attempt(ctx, done, f)
		if err == nil {
			return nil
		}
		if err := d.recovery.after(ctx, err); err != nil {
			return err
		}
	}
}

// attempt lets every member run its replicas that are not done, one after the other.
func (d *replicaDevices) attempt(ctx context.Context, done func(r int) bool,
	f func(weightsync.Device, int) error) error {
	if err := (*Driver)(d).begin(ctx); err != nil {
		return err
	}
	var some atomic.Bool // a replica was finished in this attempt
	defer func() {
		if some.Load() {
			d.recovery.progressed()
		}
	}()
	return d.group.runTogether(func(_ int, m *member, w *watchdog) error {
		for _, r := range m.replicas {
			if done(r) {
				continue
			}
			if err := f(replicaDevice{(*Driver)(d), m}, r); err != nil {
				return err
			}
			w.chunksDone.Add(1)
			some.Store(true)
		}
		return nil
	})
}

// replicaDevice is a member that runs one replica at a time.
type replicaDevice struct {
	driver *Driver
	member *member
}

// Write implements weightsync.Device.
func (r replicaDevice) Write(ctx context.Context, state map[string]tensor.Tensor) error {
	return r.driver.program.write(ctx, r.member, state)
}

// Train implements weightsync.Device.
func (r replicaDevice) Train(ctx context.Context, b Batch, replica int) (device.Outcome, error) {
	f, replicas := r.driver.program.current.Function(graph.Train), []int{replica}
	out, err := r.member.exe.Run(ctx, b.On(replicas, f, r.driver.group.runs))
	if err == nil {
		r.member.steps++
		r.member.pace.add(f, b, replicas, out)
	}
	return out, err
}

// Update implements weightsync.Device.
func (r replicaDevice) Update(ctx context.Context, h device.Hyper) (map[string]tensor.Tensor, error) {
	m, p := r.member, r.driver.program.current
	if err := m.exe.Commit(ctx, m.updates, h); err != nil {
		return nil, err
	}
	m.updates++
	state := map[string]tensor.Tensor{}
	for _, u := range p.Function(graph.Commit).Updates {
		t, err := m.exe.Read(ctx, u.State)
		if err != nil {
			return nil, err
		}
		state[u.State] = t
	}
	return state, finiteUpdates(m, p, state)
}
