package parallel

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// Recovery of a run that fails because of a device:
//
//	run fails -- for another reason --> the caller gets the error
//	   |
//	   v
//	drop the member  ----------------> reopener opens it again, after growing pauses
//	   |                                     |
//	   v                                     v
//	others left? -- yes --> regroup:      ready, before the next run: rejoin with
//	   | no                 replicas      the state of another member
//	   v                    move, the
//	awaitOne: the first     run repeats
//	to come back gets the
//	ledger's snapshot and
//	repeats its steps (replay)
//
// A failed run has not committed anything, so the repeated run starts from the same state.

// recovery keeps a group running: it drops lost members, has them opened again, and admits
// those that come back. If all members were lost, it replays the ledger on the next device.
type recovery struct {
	group       *Group
	program     *commonProgram
	stepper     stepper
	ledger      *step.Ledger
	config      Config
	reopener    reopener
	losses      lossCount
	starved     lossCount // losses of last devices for lack of memory
	lossHistory lossHistory
	restarted   bool // the last member was lost, and a new one has the state of the ledger
}

// A recovery knows the steps of a run only through this interface: it requests the state
// for a device, and reports changes of the members.

// stepper makes the steps of a run and has its state; a Driver is one. It provides
// everything that a device needs in order to participate.
type stepper interface {
	// Version counts the commits since Open.
	Version() device.Version
	// readState reads all state of the present version from a member. It recovers the group if
	// necessary.
	readState(ctx context.Context) (map[string]tensor.Tensor, error)
	// hasCommitted reports whether other ranks have a later state than after Open, or may
	// have one soon.
	hasCommitted() bool
	// regrouped reports that a new member may lack the gradients that the last step kept.
	regrouped()
}

func newRecovery(g *Group, p *commonProgram, c Config, s stepper, l *step.Ledger) *recovery {
	return &recovery{group: g, program: p, stepper: s, ledger: l, config: c,
		reopener: newReopener(len(g.members), c.Joins, g.hasRoom), lossHistory: lossHistory{}}
}

// after prepares the group to run again after err. It returns an error if err is not the loss of a
// device, or if all members are lost and no device comes back.
func (r *recovery) after(ctx context.Context, err error) error {
	for err != nil {
		if err := r.replaceLost(ctx, err); err != nil {
			return err
		}
		err = r.regroup(ctx)
	}
	return nil
}

// replaceLost drops the member that err marks as lost. If it was the only member,
// replaceLost waits for a device to come back. It returns err if err is not a loss.
func (r *recovery) replaceLost(ctx context.Context, err error) error {
	if err := r.drop(err); err != nil || len(r.group.members) > 0 {
		return err
	}
	if r.config.Peers != nil && r.stepper.hasCommitted() { // a replay on this rank needs the other ranks
		return &emptyRank{fmt.Errorf("%w: %w", NoDevices, err)}
	}
	return r.awaitOne(ctx, err)
}

// drop removes the member that err marks as lost, closes it, and has it opened again. It
// returns err if err is not a loss.
func (r *recovery) drop(err error) error {
	var l *lost
	if !errors.As(err, &l) {
		return err
	}
	r.group.remove(l.member)
	_ = l.member.Device.Close() // the error is irrelevant, since the device is lost
	r.reopener.forget(l.member.Device)
	excluded := ""
	if r.config.Reopen != nil {
		excluded = r.excluded(l.member, starved(l.err))
	}
	if r.config.Lost != nil {
		r.config.Lost(LostDevice{Device: l.member.Name, Step: uint64(r.stepper.Version()), Reason: l.err,
			MovedTo: r.group.Devices(), Excluded: excluded})
	}
	if excluded != "" {
		return nil
	}
	if r.config.Reopen != nil && !errors.Is(l.err, device.Unsupported) { // reopening would not help
		r.reopener.schedule(l.member, r.config.Reopen)
		return nil
	}
	if len(r.group.members) == 0 {
		return fmt.Errorf("%w: %w", NoDevices, err)
	}
	return nil
}

// ready admits devices that came back, and forms the group again if it changed. It is
// called before every run.
func (r *recovery) ready(ctx context.Context) error {
	if err := r.rejoinPending(ctx); err != nil || !r.group.stale {
		return err
	}
	return r.regroup(ctx)
}

// regroup assigns the replicas to the present members and makes a new generation.
func (r *recovery) regroup(ctx context.Context) error {
	r.stepper.regrouped()
	return r.group.regroup(ctx)
}
