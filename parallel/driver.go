package parallel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Member is a device that takes part in a run.
type Member struct {
	Name   string
	Device device.Device
}

// Config says what a driver drives.
type Config struct {
	Replicas int
	Batch    int // largest number of rows of a step, over all replicas
	// Placement is how many replicas each device gets while all of them take
	// part. nil: alike, and after Balance as their speeds are.
	Placement []int
	// BySpeed: Balance moves replicas between devices of several kernel classes
	// too, though results depend on where these are.
	BySpeed bool
	// Template: one device makes every update, and the others get its state.
	Template bool
	// Local: replicas have weights of their own, which a Local keeps, and their
	// devices never meet.
	Local bool
	// Reopen opens a lost device again, by its name. nil: what is lost stays lost.
	Reopen func(ctx context.Context, name string) (device.Device, error)
	// Timeout is how long a device may keep others waiting before it counts as
	// lost, and how long a run without any device waits for one. 0 is 30 s.
	Timeout time.Duration
	// Rendezvous makes places where devices meet without the host. nil: they
	// meet at the host.
	Rendezvous device.Rendezvous
	Slower     func(why error) // is told why devices that could meet by themselves do not
	Lost       func(LossEvent) // is told of every device that the run goes on without
	Back       func(BackEvent) // is told of every device that takes part again
}

const defaultTimeout = 30 * time.Second

func (c *Config) timeout() time.Duration { return cmp.Or(c.Timeout, defaultTimeout) }

// Driver runs a program in lock-step on the devices of a group. A device that
// is lost is dropped, its replicas move to the others, and the step runs again
// with the same inputs; then it is opened again and takes replicas back. If
// none is left, the first to come back repeats the steps since the last
// snapshot. None of this changes a bit. Its methods are called by one goroutine.
type Driver struct {
	program    *graph.Program
	config     Config
	members    []*member
	hub        meeting        // where the members meet
	meeting    device.Meeting // the hub, if the host is not in the middle
	slower     bool           // the members cannot meet by themselves
	generation uint64
	runs       uint64         // counts the runs: Step.Number
	version    device.Version // of the state on all members
	stale      bool           // membership changed since the last Join
	stepped    bool           // a Step waits for its Commit
	kept       bool           // and the members hold its gradients
	mixed      bool           // the devices of Open are of several kernel classes
	spoiled    error          // of a Commit that was not finite: there is no state any more
	ledger     ledger
	returns    returns
	longest    time.Duration  // of the steps so far
	stride     int            // steps of a replay between renewals of the snapshot; 0: none
	reached    device.Version // grows with what the run, or a replay, reaches
	deaths     int            // of last devices since it has grown
}

// member is a device with the program loaded on it.
type member struct {
	Member
	order    int // among the devices of Open
	exe      device.Executable
	base     device.Version // of the driver when the program was loaded
	capacity device.Capacity
	replicas []int
	hung     atomic.Bool   // the host gave it up
	steps    int           // finished since it was opened
	pause    time.Duration // before it was opened the last time
	pace     pace
	written  device.Version // of the driver, which broadcast brought
	updates  device.Version // of replicas that a Local made on it: the version of the executable
}

// commit commits at the driver's version v.
func (m *member) commit(ctx context.Context, v device.Version, h device.Hyper) error {
	return m.exe.Commit(ctx, v-m.base, h)
}

// Open loads p on every device, writes the state to it and forms the group. A
// device that is lost meanwhile is waited for, or gone on without.
// The devices stay the caller's to close; Close frees what Open loaded.
func Open(ctx context.Context, p *graph.Program, state map[string]tensor.Tensor, devices []Member, c Config) (
	*Driver, error) {
	d := &Driver{program: p, config: c, returns: newReturns()}
	for i, m := range devices {
		d.members = append(d.members, &member{Member: m, order: i})
		d.mixed = d.mixed || m.Device.Info().Kernels != devices[0].Device.Info().Kernels
	}
	if err := d.checkPlacement(); err != nil {
		return nil, err
	}
	if err := d.place(); err != nil {
		return nil, err
	}
	full := complete(p, state)
	d.ledger.begin(0, full)
	if err := d.start(ctx, full); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// complete adds zeros for the tensors that state lacks.
func complete(p *graph.Program, state map[string]tensor.Tensor) map[string]tensor.Tensor {
	full := make(map[string]tensor.Tensor, len(p.State))
	for _, s := range p.State {
		t, ok := state[s.Name]
		if !ok {
			t = tensor.New(s.DType, s.Shape...)
		}
		full[s.Name] = t
	}
	return full
}

// each calls f for every member at once and returns the first error by rank,
// those that follow from an aborted group last.
func (d *Driver) each(f func(*member) error) error {
	errs := d.all(f)
	var aborted error
	for i, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, collective.Aborted) || errors.Is(err, device.Aborted):
			aborted = err
		default:
			return d.members[i].named(err)
		}
	}
	return aborted
}

// named puts the member's name before err, unless the device did so itself.
func (m *member) named(err error) error {
	var e *device.Error
	if errors.As(err, &e) && e.Device == m.Name {
		return err
	}
	return fmt.Errorf("%s: %w", m.Name, err)
}

// all calls f for every member at once and returns their errors by rank. The
// last is called here: one device costs no goroutine.
func (d *Driver) all(f func(*member) error) []error {
	errs := make([]error, len(d.members))
	var others sync.WaitGroup
	for i, m := range d.members {
		call := func() { errs[i] = f(m) }
		if i < len(d.members)-1 {
			others.Go(call)
		} else {
			call()
		}
	}
	others.Wait()
	return errs
}

// Version counts the commits since Open.
func (d *Driver) Version() device.Version { return d.version }

// Devices returns the names of the present members, by rank.
func (d *Driver) Devices() []string {
	var names []string
	for _, m := range d.members {
		names = append(names, m.Name)
	}
	return names
}

// DeviceOf returns the name of the device that holds a replica.
func (d *Driver) DeviceOf(replica int) string {
	for _, m := range d.members {
		for _, r := range m.replicas {
			if r == replica {
				return m.Name
			}
		}
	}
	return ""
}

// Close frees the executables. The devices of Open stay open; those that were
// opened again are closed.
func (d *Driver) Close() error {
	defer d.endMeeting()
	errs := []error{d.free(), d.returns.close()}
	return errors.Join(errs...)
}

// free closes the executables. What a lost device had is gone with it.
func (d *Driver) free() error {
	var errs []error
	for _, m := range d.members {
		if m.exe == nil {
			continue
		}
		if err := m.exe.Close(); !errors.Is(err, device.Lost) {
			errs = append(errs, err)
		}
		m.exe = nil
	}
	return errors.Join(errs...)
}

// Timing is where the time of a step went, the mean over the devices.
type Timing struct {
	Took, Blocked time.Duration
}
