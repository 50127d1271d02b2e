package train

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// Fleet is a set of devices that serve one run at a time. Package fleet's Fleet
// implements it.
type Fleet interface {
	// Lend lends the devices to a run, which returns them with the function back. Lend returns an error if
	// another run uses them, or if they are closed.
	Lend() (devices []parallel.Member, back func(), err error)
	// Err returns the reason why the devices cannot be used any more, an error that wraps parallel.FleetClosed.
	// It returns nil as long as they can be used.
	Err() error
	// Reopen opens a lost device again, by its name.
	Reopen(ctx context.Context, name string) (device.Device, error)
	// Joins delivers devices that become available during the run, for the rest of it; nil if no
	// devices can join.
	Joins() <-chan parallel.Member
	// Rendezvous makes places where the devices exchange values without the
	// host; nil: they exchange through the host.
	Rendezvous() device.Rendezvous
	// Precision returns the precision that the devices were opened with.
	Precision() string
}

// fleetEnded returns err, or the reason why the fleet ended if a run with that error has lost its fleet. The
// devices of a closed fleet return other errors.
func (s *Session) fleetEnded(err error) error {
	if err == nil || s.plan.config.Fleet == nil || errors.Is(err, parallel.FleetClosed) {
		return err
	}
	if closed := s.plan.config.Fleet.Err(); closed != nil {
		return fmt.Errorf("%w: %w", closed, err)
	}
	return err
}

// devices are the devices of a run: from its fleet, or the caller's.
type devices struct {
	members    []parallel.Member
	reopen     func(ctx context.Context, name string) (device.Device, error)
	joins      <-chan parallel.Member
	rendezvous device.Rendezvous
	// giveBack returns the devices to the fleet. It is nil if they do not belong to a fleet.
	giveBack func()
}

// borrow acquires the devices of the run's fleet, if it has one, and checks that the recipe
// can be run on them. After an error the acquired devices are returned too.
func borrow(p *plan) (devices, error) {
	c, r := &p.config, p.recipe
	d := devices{members: c.Devices, reopen: c.Reopen, rendezvous: c.Rendezvous}
	if f := c.Fleet; f != nil {
		if is := f.Precision(); is != r.Precision {
			return d, problem.New("precision", r.Precision, "the devices were opened at "+is,
				"open them at {precision} "+r.Precision)
		}
		members, back, err := f.Lend()
		if err != nil {
			return d, err
		}
		d = devices{members: members, reopen: f.Reopen, joins: f.Joins(), rendezvous: f.Rendezvous(),
			giveBack: back}
	}
	switch n := len(d.members); {
	case n == 0:
		return d, problem.New("devices", "", "the fleet has no device to train on", "open some with fleet.Open")
	case n > r.StepReplicas() && c.Stages.One():
		return d, problem.New("devices", strconv.Itoa(n), fmt.Sprintf("more than the %s that they share",
			problem.Plural(r.StepReplicas(), "replica")), fmt.Sprintf("use {replicas} %d or fewer devices", n))
	}
	return d, nil
}
