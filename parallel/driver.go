package parallel

import (
	"context"
	"errors"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// This is the life of a step, with the state after an error in it:
//
//	Step    every member runs graph.Train on its replicas and keeps the gradients
//	        after an error: the state is unchanged, and the step may be repeated
//	Commit  every member updates its state, version v becomes v+1
//	        after an error: some members may have updated; those are lost, or the driver
//	        has lost its state (commitErr)
//
// Between the two calls the caller may inspect the moments and the loss, and decide not
// to commit.

// Driver runs a program in lock-step on the devices of a Group: it steps, commits and
// predicts, and has the state. If a device is lost, the step runs again with the same
// inputs. If all are lost, the first one to return repeats the steps since the last
// snapshot. Its methods are called by one goroutine, except for Predict.
type Driver struct {
	config    Config
	group     *Group
	program   *commonProgram
	recovery  *recovery
	ranks     *rankGroup     // nil without peers
	version   device.Version // version of the state on all members
	stepped   bool           // a Step has been made and not committed
	retained  bool           // the members have the gradients of that Step
	commitErr error          // error of a Commit that was not finite; the state is lost
	ledger    *step.Ledger
	checks    stateChecks // comparisons of the members' states
	audited   int         // replicas that were run again

	predicted int           // rows of all calls of Predict that have returned outputs
	computed  time.Duration // sum over the predictions of the slowest member's time; guarded by inFlight
	inFlight  *inFlight     // predictions in progress
}

// stateChecks schedules the comparisons of the members' state. All members make the same updates,
// so a device that omits or miscomputes a tensor is wrong, and its later results would come from
// other weights.
type stateChecks struct {
	compared device.Version // version of the last comparison
	next     device.Version // version of the next comparison
	since    device.Version // version since which the members have been the same devices
}

// Open loads p on every device, writes the state to it and forms the group. If a device is
// lost meanwhile, Open waits for it, and continues without it if it does not return. The
// caller still closes the devices; Close frees everything that Open loaded.
func Open(ctx context.Context, p *graph.Program, state map[string]tensor.Tensor, devices []Member, c Config) (
	*Driver, error) {
	g, err := newGroup(devices, c)
	if err != nil {
		return nil, err
	}
	d := &Driver{config: c, group: g, program: newCommonProgram(p), ledger: &step.Ledger{},
		inFlight: newInFlight()}
	d.recovery = newRecovery(g, d.program, c, d, d.ledger)
	if c.Peers != nil {
		d.ranks = &rankGroup{peers: c.Peers, recovery: d.recovery, program: d.program}
	}
	full := step.WithZeros(p, state)
	d.ledger.Begin(0, full)
	if err := d.start(ctx, full); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// start prepares the members for the first step.
func (d *Driver) start(ctx context.Context, state map[string]tensor.Tensor) error {
	if err := d.recovery.load(ctx); err != nil {
		return err
	}
	if d.ranks != nil {
		if err := d.ranks.sameProgram(ctx); err != nil {
			return err
		}
	}
	if err := d.write(ctx, state); err != nil {
		return err
	}
	return d.recovery.form(ctx)
}

// Group returns the participating devices.
func (d *Driver) Group() *Group { return d.group }

// Audited counts the runs of replicas that were repeated on another device: see Config.Audit.
func (d *Driver) Audited() int { return d.audited }

// Version counts the commits since Open.
func (d *Driver) Version() device.Version { return d.version }

// Close frees the executables. It closes the devices that were reopened; the devices passed
// to Open stay open.
func (d *Driver) Close() error {
	defer d.group.comm.closeMemory()
	return errors.Join(d.group.members.free(), d.recovery.reopener.close())
}
