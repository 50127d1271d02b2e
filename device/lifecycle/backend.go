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
	// Load prepares the valid program p for runs within capacity c. All state is zero. An error that
	// is a *device.Refused lists the nodes that the device cannot run.
	Load(p *graph.Program, c device.Capacity) (Runner, error)
}

// SlotBackend is a Backend with Runners that keep slots in the memory of the device. For other
// Runners, package lifecycle copies all values that a run keeps to the memory of the host, and
// back for the run that reads them.
type SlotBackend interface {
	// LoadStage does the same as Load for the program of a stage. In this program the functions
	// graph.Forward and graph.Backward mark the outputs that they keep. The function graph.Reduce is the
	// same as in the program that Load gets.
	LoadStage(p *graph.Program, c device.Capacity) (SlotRunner, error)
}

// SlotRunner is a Runner that keeps slots. A run of graph.Forward stores its kept outputs in a
// slot instead of returning them. A run of graph.Backward with the same slot, rows and replicas
// reads them; s.Inputs has zero Tensors in their places. That run frees the slot, unless it
// fails. A run of graph.Backward returns its kept outputs. They may be in memory of the Runner
// until Spent. If s.Onto has an entry for a kept output, the Runner may add the output to the
// first value of the entry, the sum to the second value, and so on. It then returns the last of
// these values in place of the output.
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
// with checked arguments. They may return errors made by Errorf, or any other errors. Device
// adds the name of the device and the call.
type Runner interface {
	// Run runs a function other than graph.Commit. Values that graph.Train keeps must be
	// available until the next run of graph.Train. Values that the functions of a stage keep
	// are returned as outputs, unless the Runner is a SlotRunner; package lifecycle keeps them.
	// An error leaves the state unchanged.
	Run(ctx context.Context, s Step) (device.Outcome, error)

	// Commit runs graph.Commit and makes its updates the state. s.Inputs has a zero Tensor
	// for each input that the last Run of graph.Train has kept, and the value of each input
	// that a stage keeps. After an error the kept values are lost. But if ctx has ended, the
	// state must be unchanged, and Commit may be called again.
	Commit(ctx context.Context, s Step) error

	// Needs returns the memory that the program uses.
	Needs() device.Needs

	// Grow raises the capacity to c, in which no number is lower than before. Grow keeps the state and, if
	// retained is true, the values that graph.Train has kept. After an error nothing has changed.
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
	// View is like Read, but the tensor is valid only until the next call.
	View(name string) (tensor.Tensor, error)
}

// Step is one run of a function, with the function and the group of the device.
type Step struct {
	device.Step
	Func  *graph.Function // function with the name Step.Function
	Group *device.Group   // nil: this device holds all replicas
	// Onto is for a SlotRunner. For the name of a kept output of graph.Backward, it has the float32
	// sums of earlier replicas that the output will be added to: see SlotRunner. After an error of the
	// run the values of these sums are undefined.
	Onto map[string][]tensor.Tensor
}
