package train

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fabric"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// Config says how and where a recipe is run. Nothing in it changes the result.
type Config struct {
	Train, Validation data.Source // Validation may be nil
	Workers           int         // of the input pipeline; 0: as many as there are cores

	// Peers is the other processes of the run: parallel.Config.Peers. All of them
	// have the same recipe and data; rank 0 writes checkpoints and has the events.
	Peers *fabric.Peers

	// Fleet is the devices: a *fleet.Fleet, that no other run has.
	Fleet Fleet
	// Devices are, in place of Fleet, devices of the caller's own, with what opens
	// a lost one again, nil: nothing does, and where they meet without the host.
	Devices    []parallel.Member
	Reopen     func(ctx context.Context, name string) (device.Device, error)
	Rendezvous device.Rendezvous

	Placement     []int         // parallel.Config.Placement
	BySpeed       bool          // parallel.Config.BySpeed
	DeviceTimeout time.Duration // parallel.Config.Timeout
	// Recompute says what of the forward pass is computed again where the backward
	// pass needs it, for less memory: "none", "all", or "auto" and "": all where a
	// device of some rank has too little memory free.
	Recompute string

	Checkpoint      string // file; "" writes none
	CheckpointEvery int    // steps; 0: at the end of every epoch
	Paths           Paths  // kept in checkpoints, so that a resume finds its data

	// GoOn is the command that resumes the run, for messages; "": resume CHECKPOINT.
	GoOn string
	// Option returns what the caller's users call an option, for the advice in
	// events; nil: its name.
	Option func(name string) string

	// Besides is statistics that are kept beside those of the recipe. They
	// influence nothing: see Session.Beside.
	Besides []Keeping

	LogEvery int // steps between Stepped events
	Events   func(Event)
}

// Paths is where a run found its data and puts its results.
type Paths struct {
	Data       string `json:"data"`
	Validation string `json:"validation"`
	Output     string `json:"output"`
}

// called returns a text with the options in it, which are in braces, as the
// caller's users call them.
func (c *Config) called(text string) string { return problem.Called(text, c.Option) }
