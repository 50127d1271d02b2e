package parallel

import (
	"context"
	"errors"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// The life of a step, and what is left after an error in it:
//
//	Step    every member runs graph.Train on its replicas; gradients stay there (kept)
//	        after an error: state as before, the step may be made again
//	Commit  every member updates its state, version v becomes v+1
//	        after an error: some members may have updated; those are lost, or the driver
//	        has no state any more (commitErr)
//
// Between both the caller may look at the moments and the loss, and decide not to
// commit.

// Driver runs a program in lock-step on the devices of a Group: it steps,
// commits and predicts, and has the state. A step in which a device is lost runs
// again with the same inputs. If all are lost, the first to come back repeats
// the steps since the last snapshot. Its methods are called by one goroutine, except
// for Predict.
type Driver struct {
	config    Config
	group     *Group
	program   *commonProgram
	recovery  *recovery
	ranks     *rankGroup     // nil without peers
	version   device.Version // of the state on all members
	stepped   bool           // a Step waits for its Commit
	retained  bool           // and the members hold its gradients
	commitErr error          // of a Commit that was not finite: there is no state any more
	ledger    *ledger
	checks    stateChecks // of the members, on the state

	predicted int           // rows of all calls of Predict that have returned outputs
	computed  time.Duration // of the slowest member in each prediction; guarded by inFlight
	inFlight  *inFlight     // predictions
}

// Open loads p on every device, writes the state to it and forms the group. If a
// device is lost meanwhile, Open waits for it or goes on without it.
// The devices stay the caller's to close; Close frees what Open loaded.
func Open(ctx context.Context, p *graph.Program, state map[string]tensor.Tensor, devices []Member, c Config) (
	*Driver, error) {
	g, err := newGroup(devices, c)
	if err != nil {
		return nil, err
	}
	d := &Driver{config: c, group: g, program: newCommonProgram(p), ledger: &ledger{}, inFlight: newInFlight()}
	d.recovery = newRecovery(g, d.program, c, d, d.ledger)
	if c.Peers != nil {
		d.ranks = &rankGroup{peers: c.Peers, recovery: d.recovery, program: d.program}
	}
	full := withZeros(p, state)
	d.ledger.begin(0, full)
	if err := d.start(ctx, full); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// start makes the members ready for the first step.
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

// State that the caller does not give begins as zeros: momentum and other tensors of the
// optimizer.

// withZeros adds zeros for the tensors that state lacks.
func withZeros(p *graph.Program, state map[string]tensor.Tensor) map[string]tensor.Tensor {
	full := make(map[string]tensor.Tensor, len(p.State))
	for _, s := range p.State {
		t, ok := state[s.Name]
		if !ok {
			t = tensor.New(s.DType, s.Shape...)
		}
		full[s.Name] = t
	}
	return full
}

// Group returns the devices that take part.
func (d *Driver) Group() *Group { return d.group }

// Version counts the commits since Open.
func (d *Driver) Version() device.Version { return d.version }

// Close frees the executables. The devices of Open stay open; those that were
// opened again are closed.
func (d *Driver) Close() error {
	defer d.group.comm.closeMemory()
	return errors.Join(d.group.members.free(), d.recovery.reopener.close())
}

// Timing is where the time of a step went, the mean over the devices.
type Timing struct {
	Took, Blocked time.Duration
}
