package bnctl

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/serialize/chain"
	"github.com/bnctl/bnctl/train"
)

// DataOpened is the event of opened data.
type DataOpened struct {
	Option string // "data" or "val"
	Info   data.Info
}

// SamplesHeldOut is the event of samples of the data that were set apart for validation.
type SamplesHeldOut struct{ Split *data.HeldOut }

// CopiesFound is the event of equal pictures in the data of a new run, with TrainOptions.Copies.
type CopiesFound struct{ Copies *data.Copies }

// ModelMade is the event of the model of a new run.
type ModelMade struct{ Model *modelfile.Started }

// Noted is a message for the user. It may contain names of options in braces, like {lr}.
type Noted struct{ Text string }

// OptionUnused is the event of an option of a new run that has no effect.
type OptionUnused struct{ Reason error } // a *problem.Error

// DevicesOpened is the event of opened devices.
type DevicesOpened struct{ Fleet *fleet.Fleet }

// Resumed is the event of a resumed run after its options are completed from the checkpoint. The observer
// may change Norms, Details and LogEvery.
type Resumed struct{ Options *TrainOptions }

// Begins is the event before the first step, when the model is on the devices.
type Begins struct{}

// Divided is the event of a network that was divided into stages, with TrainOptions.Plan. A second Divided
// at the end of the run has the measured waiting times.
type Divided struct{ Plan *stage.Plan }

// Evaluates is the event before an evaluation at the end of an epoch, with TrainOptions.Details. The
// observer may set functions that are called with the answers. A train.Evaluated follows.
type Evaluates struct{ Observers *evaluation.Observers }

// Chained is the event after every epoch, when the chain of the run is written beside the output.
type Chained struct{ Chain *chain.Chain }

// watch passes events to the observer of a run, and keeps the observer's first error.
type watch struct {
	observer Observer // may be nil
	refused  atomic.Pointer[error]
	stop     context.CancelCauseFunc // ends the training; nil before training begins
}

// notify passes an event to the observer.
func (w *watch) notify(e Event) {
	if w.observer == nil {
		return
	}
	if err := w.observer.Observe(e); err != nil && w.refused.CompareAndSwap(nil, &err) && w.stop != nil {
		w.stop(err)
	}
}

// note passes a message to the observer.
func (w *watch) note(format string, args ...any) { w.notify(Noted{fmt.Sprintf(format, args...)}) }

// doing notifies the observer of an activity before the first step, like "measuring ranges".
func (w *watch) doing(activity string) { w.notify(train.Moment{Doing: activity}) }

// err returns the first error of the observer.
func (w *watch) err() error {
	if err := w.refused.Load(); err != nil {
		return *err
	}
	return nil
}

// observe makes the training notify the observer.
func (w *watch) observe(o *TrainOptions, c *train.Config) {
	if w.observer == nil {
		return
	}
	c.Events = func(e train.Event) { w.notify(e) }
	c.Watch = func(m train.Moment) { w.notify(m) }
	if o.Plan {
		c.Divided = func(p *stage.Plan) { w.notify(Divided{p}) }
	}
	if !o.Details {
		return
	}
	c.Evaluated = func(e train.Evaluated) { w.notify(e) }
	c.Observe = func() (os evaluation.Observers) {
		w.notify(Evaluates{&os})
		return os
	}
}
