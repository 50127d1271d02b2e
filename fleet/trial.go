package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	golden "github.com/bnctl/bnctl/spec"
)

// trialTime is the time for testing vectors on a device of another machine. At least one vector runs.
const trialTime = time.Second

// vectors returns golden vectors of all numbered classes: inputs and outputs of operations, bit by bit.
var vectors = sync.OnceValues(golden.Small)

// openTarget opens a device under a name. A device on another machine is first tested with vectors of its
// numbered classes for about a second. The vectors are chosen at random, so that a machine cannot prepare
// for them. If the device gives other bits, or lacks an operation of its class, the error is of kind
// Unsupported and wraps parallel.Withdrawn, in this call and in later ones.
func (f *Fleet) openTarget(ctx context.Context, p Provider, name string, t target) (device.Device, error) {
	if !onMachine(t.plugin) {
		return p.OpenAs(ctx, name, t.id, f.device)
	}
	f.mu.Lock()
	err := f.failed[name]
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	d, err := f.openTried(ctx, p, name, t)
	if errors.Is(err, parallel.Withdrawn) {
		f.mu.Lock()
		f.failed[name] = err
		f.mu.Unlock()
	}
	return d, err
}

// openTried opens a device on another machine and tests it with vectors.
func (f *Fleet) openTried(ctx context.Context, p Provider, name string, t target) (device.Device, error) {
	if f.device.Precision != device.F32 { // numbered classes exist only at f32, so test there
		d, err := p.OpenAs(ctx, name, t.id, device.Options{Threads: f.device.Threads, Precision: device.F32})
		if err != nil {
			return nil, err
		}
		if err := tryVectors(ctx, d, name); err != nil {
			return nil, errors.Join(err, d.Close())
		}
		if err := d.Close(); err != nil {
			return nil, err
		}
	}
	d, err := p.OpenAs(ctx, name, t.id, f.device)
	if err != nil {
		return nil, err
	}
	if err := tryVectors(ctx, d, name); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// tryVectors compares the bits of a device with vectors of its numbered classes, if it has any.
func tryVectors(ctx context.Context, d device.Device, name string) (err error) {
	all, err := vectors()
	if err != nil {
		return err
	}
	all = slices.Clone(all)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	golden.JudgeWithin(ctx, d, all, trialTime, func(o golden.Outcome) {
		switch {
		case err != nil || o.Passed() || ctx.Err() != nil:
		case o.Failure() != nil: // there is no result, perhaps for lack of time or memory; it may be tried again
			err = device.Errorf(name, "Open", device.KindOf(o.Failure()), "vector %s of class %s: %s", o.Vector,
				o.Class, o.Error)
		default:
			wrong := device.Errorf(name, "Open", device.Unsupported,
				"it has other bits for vector %s of its class %s: it is not used (%s)", o.Vector, o.Class, o.Lines()[0])
			err = problem.Advise("leave it out until its machine is repaired", "%w", wrong).
				Because(errors.Join(wrong, parallel.Withdrawn))
		}
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}
