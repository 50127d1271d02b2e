package lifecycle

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Backend loads the programs of a device. A Backend that is an io.Closer is closed with the
// device, once, after all its Runners.
type Backend interface {
	// Load prepares p, which is valid, to be run within c, its state all zeros. An error that is
	// a *device.Refused lists the nodes that the device cannot run.
	Load(p *graph.Program, c device.Capacity) (Runner, error)
}

// SlotBackend is a Backend with Runners that keep slots in their own memory. For other
// Runners, package lifecycle copies everything that a run keeps to the memory of the host
// and back.
type SlotBackend interface {
	// LoadStage is Load for the program of a stage. Its functions graph.Forward and
	// graph.Backward mark the outputs that they keep. Reduce is the same as for Load.
	LoadStage(p *graph.Program, c device.Capacity) (SlotRunner, error)
}

// SlotRunner is a Runner that keeps slots. A run of graph.Forward does not return its kept
// outputs: they stay in the slot until a run of graph.Backward with the same rows and
// replicas names it, with zero Tensors for them in s.Inputs. That run frees the slot,
// unless it fails. Kept outputs of graph.Backward are returned, and may be in memory of the
// Runner until Spent. If s.Onto has an entry for one of them, the Runner may add it to the
// first value there, the sum to the next, and so on: it then returns the last of these
// values.
type SlotRunner interface {
	Runner

	// Spent gives back kept outputs of graph.Backward, or rows of them. It ignores other
	// tensors.
	Spent(outputs []tensor.Tensor)

	// Drop gives back all kept outputs of graph.Backward.
	Drop()

	// Forget does the same as Drop, and frees all slots.
	Forget()
}

// Runner is a loaded program. Its methods are called one at a time and never after Close,
// with arguments that were checked. They return errors made by Errorf, or any others: the
// device adds its name and the call.
type Runner interface {
	// Run runs a function other than graph.Commit. Except for a SlotRunner, the functions
	// of a stage keep nothing: package lifecycle keeps their values. The values that
	// graph.Train keeps are available until the next run of graph.Train. An error leaves
	// the state unchanged.
	Run(ctx context.Context, s Step) (device.Outcome, error)

	// Commit runs graph.Commit and makes its updates the state. s.Inputs has a zero Tensor
	// for each input that the last Run of graph.Train has kept, and the value of each input
	// that a stage keeps. After an error nothing counts as kept, unless ctx has ended: then
	// Commit may be called again, and the state is unchanged.
	Commit(ctx context.Context, s Step) error

	// Needs returns the memory that the program uses.
	Needs() device.Needs

	// Grow raises the capacity to c, which is nowhere below the former one. It keeps the
	// state and, if retained is true, the values that graph.Train has kept. After an error
	// nothing has changed.
	Grow(c device.Capacity, retained bool) error

	// Read returns a copy of a state tensor that the program has.
	Read(name string) (tensor.Tensor, error)

	// Write copies t, which has the type and shape of the state tensor.
	Write(name string, t tensor.Tensor) error

	// Close frees the program.
	Close()
}

// ViewRunner is a Runner with state that can be read without a copy.
type ViewRunner interface {
	// View is Read of a tensor that is valid until the next call.
	View(name string) (tensor.Tensor, error)
}

// Step is one run of a function, with the function and the group of the device.
type Step struct {
	device.Step
	Func  *graph.Function // function with the name Step.Function
	Group *device.Group   // nil: this device holds all replicas
	// Onto is used by a SlotRunner. It has, by name of a kept output of graph.Backward, the float32
	// sums of earlier replicas to which the output is going to be added. After an error their
	// values are undefined.
	Onto map[string][]tensor.Tensor
}
