package parallel

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// What happens when a run fails because of a device:
//
//	run fails -- not about a device --> the caller gets the error
//	   |
//	   v
//	drop the member  ----------------> reopener opens it again, after pauses that grow
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
// Nothing was committed by a run that failed, so the repeated one finds what the first
// would have found.

// LostDevice reports a lost device.
type LostDevice struct {
	Device  string
	Step    uint64 // version of the state
	Reason  error
	MovedTo []string // the devices that its replicas moved to; none if it was the last
	// Excluded says why it is not opened again although others would be: it was lost too
	// often. "" if it is.
	Excluded string
}

// NoDevices is what a driver's calls wrap when the last device was lost and
// none came back in time.
var NoDevices = errors.New("no device is left")

// FleetClosed is what the error of Config.Reopen wraps if no device will be opened
// any more. A run that has none left ends with it at once.
var FleetClosed = errors.New("the fleet is closed")

// recovery keeps a group going: it drops the members that are lost, sees to it
// that they are opened again, and takes in those that come back. If all were lost it
// repeats on the next one what the ledger has.
type recovery struct {
	group       *Group
	program     *commonProgram
	stepper     stepper
	ledger      *ledger
	config      Config
	reopener    reopener
	losses      lossCount
	starved     lossCount // of last devices that were ended for want of memory
	lossHistory lossHistory
	restarted   bool // the last member was lost, and another one has what the ledger says
}

// A recovery knows the steps of a run only through this: it asks for the state to give to
// a device, and tells that members changed.

// stepper makes the steps of a run and has its state: a Driver. A recovery asks it
// for what a device must have to take part.
type stepper interface {
	// Version counts the commits since Open.
	Version() device.Version
	// readState reads all state of that version from a member. It recovers the group
	// if need be.
	readState(ctx context.Context) (map[string]tensor.Tensor, error)
	// hasCommitted reports whether other ranks have a later state than that of Open, or may have it soon.
	hasCommitted() bool
	// regrouped tells that a member may have come that lacks what the last step kept.
	regrouped()
}

func newRecovery(g *Group, p *commonProgram, c Config, s stepper, l *ledger) *recovery {
	return &recovery{group: g, program: p, stepper: s, ledger: l, config: c, reopener: newReopener(),
		lossHistory: lossHistory{}}
}

// after makes the group ready to run again after err, or returns why it
// cannot: err is not about a lost device, or no member is left and no device comes back.
func (r *recovery) after(ctx context.Context, err error) error {
	for err != nil {
		if err := r.replaceLost(ctx, err); err != nil {
			return err
		}
		err = r.regroup(ctx)
	}
	return nil
}

// replaceLost drops the member that err says is lost. If there is no other it
// waits for one that comes back. It returns err if it says no such thing.
func (r *recovery) replaceLost(ctx context.Context, err error) error {
	if err := r.drop(err); err != nil || len(r.group.members) > 0 {
		return err
	}
	if r.config.Peers != nil && r.stepper.hasCommitted() { // a replay needs the others
		return &emptyRank{fmt.Errorf("%w: %w", NoDevices, err)}
	}
	return r.awaitOne(ctx, err)
}

// drop removes the member that err says is lost, ends it, and sees to it that
// it is opened again. It returns err if it says no such thing.
func (r *recovery) drop(err error) error {
	var l *lost
	if !errors.As(err, &l) {
		return err
	}
	r.group.remove(l.member)
	_ = l.member.Device.Close() // it is lost: what it says about that is of no use
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
	if r.config.Reopen != nil && !errors.Is(l.err, device.Unsupported) { // that it will not learn
		r.reopener.schedule(l.member, r.config.Reopen)
		return nil
	}
	if len(r.group.members) == 0 {
		return fmt.Errorf("%w: %w", NoDevices, err)
	}
	return nil
}

// ready takes in devices that came back and forms the group again if it changed: what
// comes before every run.
func (r *recovery) ready(ctx context.Context) error {
	if err := r.rejoinPending(ctx); err != nil || !r.group.stale {
		return err
	}
	return r.regroup(ctx)
}

// regroup places the replicas on the present members and makes a new
// generation.
func (r *recovery) regroup(ctx context.Context) error {
	r.stepper.regrouped()
	return r.group.regroup(ctx)
}
