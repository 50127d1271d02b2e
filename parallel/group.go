package parallel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/parallel/internal/placement"
)

// A group forms in three steps. Replicas are placed (assign), executables get the memory
// for them (Grow), and the members of a new generation are connected (join). Each step may
// lose a member, and the group then begins again.
//
//	admit, remove --> stale --> regroup: assign, Grow, join --> runs
//	                    ^                                        |
//	                    +---------- a member is lost ------------+

// Group is the devices of a run: its members, the replicas of each member (placement),
// their exchange (communicator) and their time limits (timeouts). A lost device leaves the
// group, and joins it when it comes back; a recovery handles both. Neither changes a bit of
// the result.
//
// The Driver defines the computation. All methods are called by one goroutine at a time,
// except eachAfter.
type Group struct {
	members   members
	placement placement.Placement
	comm      communicator
	timeouts  *timeouts
	runs      uint64 // counts the runs of the members: Step.Number
	stale     bool   // members have changed since the last join
	mixed     bool   // the devices given to Open have several kernel classes
	bySpeed   bool   // Config.BySpeed
	fixed     bool   // replicas do not move
	flows     bool   // each run computes a single replica: Config.flows
	slots     int    // Config.slots
	batch     int    // Config.Batch
}

// newGroup returns the group of some devices, each with its replicas. Programs are loaded
// later.
func newGroup(devices []Member, c Config) (*Group, error) {
	ranks, err := ranksOf(c)
	if err != nil {
		return nil, err
	}
	t := &timeouts{timeout: c.timeout()}
	if c.Timeout == 0 {
		t.minimum = onlyTimeout
	}
	g := &Group{placement: placement.New(ranks, c.Placement, c.Batch, c.Replicas),
		comm: newCommunicator(c, ranks, t), timeouts: t,
		bySpeed: c.BySpeed, flows: c.flows, slots: c.slots, batch: c.Batch}
	for i, m := range devices {
		g.members = append(g.members, &member{Member: m, order: i, stage: c.stage})
		g.mixed = g.mixed || m.Device.Info().Kernels != devices[0].Device.Info().Kernels
	}
	if err := g.placement.Check(g.members.names()); err != nil {
		return nil, err
	}
	return g, g.assign()
}

// ranksOf returns the division of the replicas among the ranks of a run.
func ranksOf(c Config) (placement.Ranks, error) {
	switch {
	case c.Peers == nil:
		return placement.SingleProcess(c.Replicas), nil
	case c.Local:
		return placement.Ranks{}, fmt.Errorf("replicas with weights of their own are not kept on several ranks")
	}
	return placement.NewRanks(c.Replicas, c.Peers.Rank(), c.Peers.Size())
}

// assign gives every member its replicas.
func (g *Group) assign() error {
	ranges, err := g.placement.Ranges(g.members.speeds(), g.members.least())
	if err != nil {
		return err
	}
	for i, c := range g.placement.Capacities(ranges) {
		if g.flows {
			c = g.placement.OfReplica()
			c.Slots, c.Leaves = min(g.slots, len(ranges[i])), len(ranges[i])
		}
		g.members[i].replicas, g.members[i].capacity = ranges[i], c
	}
	return nil
}

// Devices returns the names of the present members, by rank.
func (g *Group) Devices() []string { return g.members.names() }

// DeviceOf returns the name of the device that holds a replica, or the name of the replica's rank
// if another rank holds it.
func (g *Group) DeviceOf(replica int) string {
	for _, m := range g.members {
		if slices.Contains(m.replicas, replica) {
			return m.Name
		}
	}
	if rank, ok := g.placement.Ranks().Holder(replica); ok {
		return fmt.Sprintf("of rank %d", rank)
	}
	return ""
}

// Placement returns the number of replicas of each present member, by rank.
func (g *Group) Placement() []int {
	var counts []int
	for _, m := range g.members {
		counts = append(counts, len(m.replicas))
	}
	return counts
}

// Replicas returns the range of replicas that the devices of this rank hold.
func (g *Group) Replicas() (from, to int) { return g.placement.Ranks().Range() }

// hasRoom reports whether there is a replica for one more device.
func (g *Group) hasRoom() bool {
	from, to := g.Replicas()
	return len(g.members) < to-from
}

// admit adds m to the members.
func (g *Group) admit(m *member) { g.members, g.stale = g.members.with(m), true }

// remove removes m from the members.
func (g *Group) remove(m *member) { g.members, g.stale = g.members.without(m), true }

// regroup assigns the replicas to the present members and makes a new generation.
func (g *Group) regroup(ctx context.Context) error {
	if err := g.assign(); err != nil {
		return err
	}
	err := g.eachAlone(func(_ int, m *member) error { return m.exe.Grow(ctx, m.capacity) })
	if err != nil {
		return err
	}
	return g.join(ctx)
}

// join makes a new generation of the present members.
func (g *Group) join(ctx context.Context) error {
	err := g.comm.join(ctx, g.members)
	g.stale = g.stale && err != nil
	return err
}

// runTogether calls f for every member at once. f runs a function in which members wait for each
// other. If f fails for one member, the runs of the others are called off and the group has to be
// formed again. A member that keeps the others waiting for too long is lost: see watchdog.
func (g *Group) runTogether(f func(rank int, m *member, w *watchdog) error) error {
	w := g.timeouts.watch(g.members, g.comm.hub)
	defer w.stop()
	defer g.comm.drain()
	err := g.members.each(func(rank int, m *member) error {
		if err := f(rank, m, w); err != nil {
			g.comm.hub.Abort(m.named(err))
			return g.timeouts.mark(m, err)
		}
		w.finished(rank)
		return nil
	})
	if err != nil {
		g.stale = true // the hub cannot be used again
		return err
	}
	g.timeouts.took(w.elapsed())
	return nil
}

// eachAlone calls f for every member at once; f does not wait for other members. A member
// that needs much longer than a step is lost.
func (g *Group) eachAlone(f func(rank int, m *member) error) error {
	return g.eachAfter(0, f)
}

// eachAfter does the same as eachAlone, for members that must first finish the given number of calls.
func (g *Group) eachAfter(calls int, f func(rank int, m *member) error) error {
	least := time.Duration(0)
	if len(g.members) == 1 {
		least = g.timeouts.minimum
	}
	return g.members.each(func(rank int, m *member) error {
		return g.timeouts.behind(m, calls, least, func() error { return f(rank, m) })
	})
}

// calledOff reports whether err occurred because another rank has called off the run.
func (g *Group) calledOff(err error) bool {
	return (errors.Is(err, collective.Aborted) || errors.Is(err, device.Aborted)) && g.comm.calledOff()
}
