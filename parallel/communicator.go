package parallel

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/parallel/internal/placement"
	"github.com/bnctl/bnctl/parallel/internal/record"
)

// Members exchange values at a place that all of them support:
//
//	Stream    every device talks to the host, which adds (a collective.Hub)
//	CollShm   devices meet in shared memory by themselves (a device.GroupMemory)
//
//	        stream                      shm
//	   dev0   dev1   dev2        dev0 --- dev1 --- dev2
//	     \     |     /
//	       hub in the host          the host watches for missing devices
//	         |
//	      uplink to other ranks     (with ranks always through the host)
//
// The devices of another machine add their values on that machine, and one of them sends the sums to
// the hub (OnMachine).
//
// A generation is one formation of the group. After a member was lost or came back,
// values of an older generation are rejected.

// exchange is the place where the devices of a group exchange values: a hub in this process or a
// device.GroupMemory.
type exchange interface {
	Missing() []int
	Exchanges() int
	Abort(cause error)
}

// communicator creates the places where the members of a group exchange values. Each
// generation of members has a separate place: a hub in this process, or memory that the
// devices reach without the host.
type communicator struct {
	rendezvous device.Rendezvous
	uplink     *fabric.Uplink // exchanges with the devices of other ranks; nil without peers
	replicas   int            // replicas of all ranks
	local      bool           // devices never meet: Config.Local
	toldSlower func(why error)
	timeouts   *timeouts

	hub        exchange           // exchange of the members
	memory     device.GroupMemory // the hub, if the host is not in the middle
	slower     bool               // the members have failed to meet without the host
	token      [16]byte           // distinguishes this run on other machines
	recorder   *record.Recorder   // records the steps that are audited; nil without audits
	generation uint64
}

func newCommunicator(c Config, ranks placement.Ranks, l *timeouts) communicator {
	m := communicator{rendezvous: c.Rendezvous, replicas: c.Replicas, local: c.Local, toldSlower: c.Slower,
		timeouts: l}
	_, _ = rand.Read(m.token[:]) // rand.Read never fails
	if c.Audit != nil && c.Peers == nil && !c.Local {
		m.recorder = &record.Recorder{}
	}
	if c.Peers != nil {
		m.uplink = fabric.NewUplink(c.Peers, ranks.Counts())
	}
	return m
}

// level returns the best exchange level that all members support.
func (c *communicator) level(ms members) string {
	if c.rendezvous == nil || len(ms) < 2 || c.slower || c.uplink != nil || !ms.meetAt(device.CollShm) {
		return device.Stream
	}
	return device.CollShm
}

// join connects some members as a new generation. If they fail to meet without the host, although all
// of them support it, they exchange through the host from then on.
func (c *communicator) join(ctx context.Context, ms members) error {
	c.generation++
	c.closeMemory()
	points := pointsOf(ms)
	hub := &pointsHub{c.newHub(len(points)), points, c.uplink != nil, c.recorder}
	c.hub = hub
	if c.local { // replicas do not exchange values, so the devices need no group
		return nil
	}
	if c.level(ms) == device.CollShm {
		err := c.joinThemselves(ctx, ms)
		if !errors.Is(err, device.Unavailable) {
			return err
		}
		c.slower = true
		if c.toldSlower != nil {
			c.toldSlower(err)
		}
		c.generation++
		c.closeMemory()
		c.hub = hub
	}
	return c.joinEach(ctx, ms, func(rank int) device.Group { return hub.group(rank, c.token[:]) })
}

// newHub returns a hub in this process for that number of devices.
func (c *communicator) newHub(devices int) *collective.Hub {
	if c.uplink == nil {
		return collective.NewHub(c.replicas, devices)
	}
	return collective.NewHubBelow(c.uplink, c.replicas, devices)
}

// joinThemselves makes the members meet without the host.
func (c *communicator) joinThemselves(ctx context.Context, ms members) error {
	m, err := c.rendezvous.Meet(device.CollShm, c.generation, len(ms))
	if err != nil {
		return err
	}
	c.memory, c.hub = m, m
	defer m.Joined()
	return c.joinEach(ctx, ms, func(int) device.Group {
		return device.Group{Level: device.CollShm, Rendezvous: m.Rendezvous()}
	})
}

// joinEach joins each member to a group. groupOf returns the group for a rank.
func (c *communicator) joinEach(ctx context.Context, ms members, groupOf func(rank int) device.Group) error {
	replicas := ms.replicas()
	for rank, m := range ms {
		to := groupOf(rank)
		to.Generation, to.Rank, to.Replicas, to.Tree = c.generation, rank, replicas, c.replicas
		if err := c.timeouts.call(m, func() error { return m.Device.Join(ctx, to) }); err != nil {
			return m.named(err)
		}
	}
	return nil
}

// closeMemory closes the meeting place of the previous generation.
func (c *communicator) closeMemory() {
	if c.memory != nil {
		_ = c.memory.Close() // only freeing memory can fail
		c.memory = nil
	}
}

// pointsHub returns the hub of this process, or nil if the members meet without the host.
func (c *communicator) pointsHub() *pointsHub {
	hub, _ := c.hub.(*pointsHub)
	return hub
}

// drain waits until all exchanges with other ranks have ended.
func (c *communicator) drain() {
	if hub, ok := c.hub.(*pointsHub); ok {
		hub.hub.Wait()
	}
}

// calledOff reports whether another rank has called the run off.
func (c *communicator) calledOff() bool {
	hub, ok := c.hub.(*pointsHub)
	return ok && hub.hub.CalledOff()
}
