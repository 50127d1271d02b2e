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
func (d *Driver) groupLevel() string {
	if d.config.Rendezvous == nil || len(d.members) < 2 || d.slower {
		return device.Stream
	}
	for _, m := range d.members {
		if !slices.Contains(m.Device.Info().Levels, device.CollShm) {
			return device.Stream
		}
	}
	return device.CollShm
}

// join makes a new generation of the present members. Where they cannot meet
// by themselves, though all say that they can, the host is in the middle from
// then on.
func (d *Driver) join(ctx context.Context) error {
	d.generation++
	d.endMeeting()
	hub := collective.NewHub(d.config.Replicas, len(d.members))
	d.hub = hub
	if d.config.Local { // a device without a group has all replicas of what it runs
		d.stale = false
		return nil
	}
	if d.groupLevel() == device.CollShm {
		err := d.joinThemselves(ctx)
		if !errors.Is(err, device.Unavailable) {
			return err
		}
		d.slower = true
		if d.config.Slower != nil {
			d.config.Slower(err)
		}
		d.generation++
		d.endMeeting()
		d.hub = hub
	}
	return d.joinEach(ctx, func(rank int) device.Group {
		return device.Group{Level: device.Stream, Exchange: hub.Member(rank)}
	})
}

// joinThemselves makes the members meet without the host.
func (d *Driver) joinThemselves(ctx context.Context) error {
	m, err := d.config.Rendezvous.Meet(device.CollShm, d.generation, len(d.members))
	if err != nil {
		return err
	}
	d.meeting, d.hub = m, m
	defer m.Joined()
	return d.joinEach(ctx, func(int) device.Group {
		return device.Group{Level: device.CollShm, Rendezvous: m.Rendezvous()}
	})
}

// joinEach joins all members to the group that of begins for each rank.
func (d *Driver) joinEach(ctx context.Context, of func(rank int) device.Group) error {
	replicas := make([][]int, len(d.members))
	for i, m := range d.members {
		replicas[i] = m.replicas
	}
	for rank, m := range d.members {
		g := of(rank)
		g.Generation, g.Rank, g.Replicas, g.Tree = d.generation, rank, replicas, d.config.Replicas
		if err := d.limited(m, func() error { return m.Device.Join(ctx, g) }); err != nil {
			return m.named(err)
		}
	}
	d.stale = false
	return nil
}

// endMeeting gives up the place where the former group met.
func (d *Driver) endMeeting() {
	if d.meeting != nil {
		_ = d.meeting.Close() // what can fail is giving memory back
		d.meeting = nil
	}
}
