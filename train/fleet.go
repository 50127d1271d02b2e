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
	// Lend gives the devices to a run, which gives them back by calling back.
	// It is an error if another run has them, or if they are closed.
	Lend() (devices []parallel.Member, back func(), err error)
	// Err returns why the devices cannot be used any more, an error that wraps
	// parallel.FleetClosed; nil while they can.
	Err() error
	// Reopen opens a lost device again, by its name.
	Reopen(ctx context.Context, name string) (device.Device, error)
	// Rendezvous makes places where the devices exchange values without the
	// host; nil: they exchange through the host.
	Rendezvous() device.Rendezvous
	// Precision returns the precision at which the devices were opened.
	Precision() string
}

// fleetEnded returns err, or why there is no fleet any more if a run with that
// error has lost it: its devices have other words for it.
func (s *Session) fleetEnded(err error) error {
	if err == nil || s.config.Fleet == nil || errors.Is(err, parallel.FleetClosed) {
		return err
	}
	if closed := s.config.Fleet.Err(); closed != nil {
		return fmt.Errorf("%w: %w", closed, err)
	}
	return err
}

// borrow takes the devices of the run's fleet, if it has one, and checks that
// the recipe can be run on them.
func (s *Session) borrow() error {
	c, r := &s.config, s.recipe
	if f := c.Fleet; f != nil {
		if is := f.Precision(); is != r.Precision {
			return problem.New("precision", r.Precision, "the devices were opened at "+is,
				"open them at {precision} "+r.Precision)
		}
		devices, back, err := f.Lend()
		if err != nil {
			return err
		}
		s.giveBack = back
		c.Devices, c.Reopen, c.Rendezvous = devices, f.Reopen, f.Rendezvous()
	}
	switch n := len(c.Devices); {
	case n == 0:
		return problem.New("devices", "", "there is no device to train on", "open some with fleet.Open")
	case n > r.StepReplicas():
		return problem.New("devices", strconv.Itoa(n), fmt.Sprintf("more than the %s that they share",
			problem.Counted(r.StepReplicas(), "replica")), fmt.Sprintf("use {replicas} %d or fewer devices", n))
	}
	return nil
}
