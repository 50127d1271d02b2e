package parallel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Group is the devices that take part in a run. It knows who they are, which
// replicas each of them holds and where they exchange. A device that is lost
// leaves it, and its replicas move to the others; then it is opened again and
// takes replicas back. None of this changes a bit.
//
// What the devices compute is the business of a stepper: a Driver, which calls
// ready before every run, runs its members (runTogether, eachAlone), and calls
// recover with the error of a run that fails: then the run is repeated. All
// methods are called by one goroutine.
type Group struct {
	program    *graph.Program // as the members have loaded it
	config     Config
	stepper    stepper
	first      int   // replica of this rank, of those that its members hold
	replicas   int   // of this rank
	counts     []int // replicas of all ranks; nil without peers
	members    []*member
	uplink     *fabric.Uplink // to the devices of other ranks; nil without peers
	hub        meeting        // where the members meet
	meeting    device.Meeting // the hub, if the host is not in the middle
	slower     bool           // the members cannot meet by themselves
	generation uint64
	stale      bool // membership changed since the last Join
	mixed      bool // the devices of Open are of several kernel classes
	reopener   reopener
	longest    time.Duration  // of the steps so far
	reached    device.Version // of the stepper, when a last device was lost
	lastLosses int            // of last devices since it has changed
}

// stepper makes the steps of a run and has its state. A group asks it for what
// a device must have to take part.
type stepper interface {
	// Version counts the commits since Open.
	Version() device.Version
	// present reads all state of that version from a member. It recovers the group
	// if need be.
	present(ctx context.Context) (map[string]tensor.Tensor, error)
	// snapshot returns a state that the stepper has itself, and its version.
	snapshot() (device.Version, map[string]tensor.Tensor)
	// replay brings m, the only member, which has the snapshot, to the present state.
	replay(ctx context.Context, m *member) error
	// reached returns a number that changes when a step, or a replay, gets further.
	reached() device.Version
	// renewOften makes the replays to come renew the snapshot on the way: devices
	// do not live through whole ones. Each further call makes it more often.
	renewOften()
	// regrouped tells that a member may have come that lacks what the last step kept.
	regrouped()
}

// newGroup returns the group of some devices, each with its replicas, on which
// nothing is loaded yet.
func newGroup(p *graph.Program, devices []Member, c Config, s stepper) (*Group, error) {
	g := &Group{program: p, config: c, stepper: s, reopener: newReopener(), replicas: c.Replicas}
	if err := g.takeShare(); err != nil {
		return nil, err
	}
	for i, m := range devices {
		g.members = append(g.members, &member{Member: m, order: i})
		g.mixed = g.mixed || m.Device.Info().Kernels != devices[0].Device.Info().Kernels
	}
	if err := g.checkPlacement(); err != nil {
		return nil, err
	}
	return g, g.place()
}

// Devices returns the names of the present members, by rank.
func (g *Group) Devices() []string {
	var names []string
	for _, m := range g.members {
		names = append(names, m.Name)
	}
	return names
}

// DeviceOf returns the name of the device that holds a replica, or which rank
// has that device.
func (g *Group) DeviceOf(replica int) string {
	for _, m := range g.members {
		for _, r := range m.replicas {
			if r == replica {
				return m.Name
			}
		}
	}
	for rank := range g.counts {
		if from, to := g.rangeOf(rank); from <= replica && replica < to {
			return fmt.Sprintf("of rank %d", rank)
		}
	}
	return ""
}

// close frees what is loaded. The devices of Open stay open; those that were
// opened again are closed.
func (g *Group) close() error {
	defer g.endMeeting()
	errs := []error{g.free(), g.reopener.close()}
	return errors.Join(errs...)
}

// free closes the executables. What a lost device had is gone with it.
func (g *Group) free() error {
	var errs []error
	for _, m := range g.members {
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
