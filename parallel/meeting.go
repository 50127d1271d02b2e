package parallel

import (
	"context"
	"errors"
	"slices"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
)

// meeting is what the driver knows of the place where its devices meet: a hub
// in this process, or a device.Meeting.
type meeting interface {
	Missing() []int
	Exchanges() int
	Abort(cause error)
}

// groupLevel returns the level at which the present members exchange: the best
// that all of them have.
func (g *Group) groupLevel() string {
	if g.config.Rendezvous == nil || len(g.members) < 2 || g.slower || g.config.Peers != nil {
		return device.Stream
	}
	for _, m := range g.members {
		if !slices.Contains(m.Device.Info().Levels, device.CollShm) {
			return device.Stream
		}
	}
	return device.CollShm
}

// join makes a new generation of the present members. Where they cannot meet
// by themselves, though all say that they can, the host is in the middle from
// then on.
func (g *Group) join(ctx context.Context) error {
	g.generation++
	g.endMeeting()
	hub := g.newHub()
	g.hub = hub
	if g.config.Local { // a device without a group has all replicas of what it runs
		g.stale = false
		return nil
	}
	if g.groupLevel() == device.CollShm {
		err := g.joinThemselves(ctx)
		if !errors.Is(err, device.Unavailable) {
			return err
		}
		g.slower = true
		if g.config.Slower != nil {
			g.config.Slower(err)
		}
		g.generation++
		g.endMeeting()
		g.hub = hub
	}
	return g.joinEach(ctx, func(rank int) device.Group {
		return device.Group{Level: device.Stream, Exchange: hub.Member(rank)}
	})
}

// newHub returns the place in this process where the members meet.
func (g *Group) newHub() *collective.Hub {
	if g.config.Peers == nil {
		return collective.NewHub(g.config.Replicas, len(g.members))
	}
	return collective.NewHubBelow(g.uplink, g.config.Replicas, len(g.members))
}

// joinThemselves makes the members meet without the host.
func (g *Group) joinThemselves(ctx context.Context) error {
	m, err := g.config.Rendezvous.Meet(device.CollShm, g.generation, len(g.members))
	if err != nil {
		return err
	}
	g.meeting, g.hub = m, m
	defer m.Joined()
	return g.joinEach(ctx, func(int) device.Group {
		return device.Group{Level: device.CollShm, Rendezvous: m.Rendezvous()}
	})
}

// joinEach joins all members to the group that of begins for each rank.
func (g *Group) joinEach(ctx context.Context, of func(rank int) device.Group) error {
	replicas := make([][]int, len(g.members))
	for i, m := range g.members {
		replicas[i] = m.replicas
	}
	for rank, m := range g.members {
		to := of(rank)
		to.Generation, to.Rank, to.Replicas, to.Tree = g.generation, rank, replicas, g.config.Replicas
		if err := g.withDeadline(m, func() error { return m.Device.Join(ctx, to) }); err != nil {
			return m.named(err)
		}
	}
	g.stale = false
	return nil
}

// endMeeting gives up the place where the former group met.
func (g *Group) endMeeting() {
	if g.meeting != nil {
		_ = g.meeting.Close() // what can fail is giving memory back
		g.meeting = nil
	}
}
