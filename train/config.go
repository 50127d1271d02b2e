package train

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize/chain"
)

// Config determines how and where a recipe is run. Its fields do not change the result.
type Config struct {
	Train, Validation data.Source // Validation may be nil
	Workers           int         // goroutines of the input pipeline; 0: one per core

	// Peers connects the ranks of a run: parallel.Config.Peers. nil means one rank. All ranks have the same
	// recipe and data; rank 0 writes checkpoints and gets the events.
	Peers *fabric.Peers

	// Fleet has the devices: a *fleet.Fleet that no other run uses.
	Fleet Fleet
	// Devices are the caller's devices, in place of Fleet. Reopen opens a lost one again;
	// nil: lost devices stay lost. Rendezvous makes places for exchanges without the host;
	// nil: devices exchange through the host.
	Devices    []parallel.Member
	Reopen     func(ctx context.Context, name string) (device.Device, error)
	Rendezvous device.Rendezvous

	// Stages divides the network into parts on different devices. The zero value means one
	// part.
	Stages        parallel.Stages
	Divided       func(*parallel.Plan) // parallel.Config.Divided
	Placement     []int                // parallel.Config.Placement
	BySpeed       bool                 // parallel.Config.BySpeed
	DeviceTimeout time.Duration        // parallel.Config.Timeout
	// Audit is the fraction of the runs of replicas that are repeated on another device, to compare the bits:
	// see parallel.Config.Audit. The seed and the step determine which runs.
	Audit float64
	// Recompute determines whether activations are computed again for the backward pass instead of
	// stored: "none", "all", or "auto". "auto" recomputes if a device of any rank has too little free
	// memory. The empty string also means "auto".
	Recompute string

	Checkpoint      string         // file; "" means no checkpoints
	CheckpointEvery int            // steps; 0: at the end of every epoch
	Paths           progress.Paths // kept in checkpoints, so that a resume finds its data
	Settings        progress.Settings

	// GoOn is the command that resumes the run, for messages; "": "resume
	// CHECKPOINT".
	GoOn string
	// Option returns the caller's name of an option, for the advice in events; nil: the
	// name of its field.
	Option func(name string) string

	// ExtraStatistics are further ways of keeping running statistics, in addition to the
	// recipe's. They do not change the result: see Session.ExtraStatistics.
	ExtraStatistics []StatisticsConfig

	// Observe is called before each evaluation at the end of an epoch, and returns
	// observers of its answers; nil: no observers.
	Observe func() evaluation.Observers
	// Evaluated is called with each evaluation at the end of an epoch; may be nil.
	Evaluated func(Evaluated)
	// Chained is called at the end of every epoch with the chain of the run so far. A template contains the
	// digest of this chain. An error ends the run. Chained may be nil.
	Chained func(*chain.Chain) error
	// Rebuild returns the model that a training for int8 continues with after an epoch, from the model
	// with the trained weights: quantize.Rebuild. During the call the session has given its devices
	// back. Recipes with QATRanges or QATFold need it.
	Rebuild func(ctx context.Context, m *models.Model, epoch int) (*models.Model, error)
	// Norms enables the event Norms at the end of every epoch, which reads the weights.
	Norms    bool
	LogEvery int // steps between Stepped events
	Events   func(Event)
	// Watch is called with the progress of the run when a step is done, and during other work, also before the
	// first step. It is meant for a display and not for records. It must return soon, and may be nil.
	Watch func(Moment)
}

// withOptionNames returns a text with the options in it, which are in braces, as the
// caller's users call them.
func (c *Config) withOptionNames(text string) string { return problem.ReplaceOptions(text, c.Option) }
