package train

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// Config says how and where a recipe is run. Nothing in it changes the result.
type Config struct {
	Train, Validation data.Source // Validation may be nil
	Workers           int         // goroutines of the input pipeline; 0: one per core

	// Peers connects the ranks of a run: parallel.Config.Peers; nil if there is
	// one. All ranks have the same recipe and data; rank 0 writes checkpoints and
	// gets the events.
	Peers *fabric.Peers

	// Fleet has the devices: a *fleet.Fleet that no other run uses.
	Fleet Fleet
	// Devices are devices of the caller's own, in place of Fleet. Reopen opens a
	// lost one again; nil: lost devices stay lost. Rendezvous makes places where
	// they exchange without the host; nil: they exchange through the host.
	Devices    []parallel.Member
	Reopen     func(ctx context.Context, name string) (device.Device, error)
	Rendezvous device.Rendezvous

	// Stages says how many parts of the network lie on different devices, and which; the zero value: one.
	Stages        parallel.Stages
	Divided       func(*parallel.Plan) // parallel.Config.Divided
	Placement     []int                // parallel.Config.Placement
	BySpeed       bool                 // parallel.Config.BySpeed
	DeviceTimeout time.Duration        // parallel.Config.Timeout
	// Recompute says whether activations are computed again for the backward pass
	// instead of stored: "none", "all", or "auto", which "" stands for: if a
	// device of any rank has too little free memory.
	Recompute string

	Checkpoint      string // file; "" writes none
	CheckpointEvery int    // steps; 0: at the end of every epoch
	Paths           Paths  // kept in checkpoints, so that a resume finds its data
	Settings        Settings

	// GoOn is the command that resumes the run, for messages; "": "resume
	// CHECKPOINT".
	GoOn string
	// Option returns the name by which the caller's users know an option, for
	// the advice in events; nil: the name of its field.
	Option func(name string) string

	// ExtraStatistics are further ways of keeping running statistics, in addition to
	// that of the recipe. They do not change the result: see
	// Session.ExtraStatistics.
	ExtraStatistics []StatisticsConfig

	// Observe is called before each evaluation at the end of an epoch, and returns who is told its answers one
	// by one; nil: nobody.
	Observe func() Observers
	// Evaluated is called with each evaluation at the end of an epoch; may be nil.
	Evaluated func(Evaluated)
	// Norms asks for the event Norms at the end of every epoch. It reads the weights for that.
	Norms    bool
	LogEvery int // steps between Stepped events
	Events   func(Event)
	// Watch is called when a step is done, and while other things take time, before the first step
	// too, with where the run stands: for a display, not for records. It returns soon; nil: nobody looks.
	Watch func(Moment)
}

// Paths is where a run found its data and puts its results.
type Paths struct {
	Data       string `json:"data"`
	Validation string `json:"validation"`
	Output     string `json:"output"`
}

// withOptionNames returns a text with the options in it, which are in braces, as the
// caller's users call them.
func (c *Config) withOptionNames(text string) string { return problem.ReplaceOptions(text, c.Option) }
