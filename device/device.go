package device

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Device is an opened device. Its methods and the methods of its executables may be called
// from any goroutine, but only one call at a time, except for runs as the feature Ahead
// describes. Close may be called at any time and ends a call that is in progress.
type Device interface {
	// Info describes the device. It costs nothing and never fails.
	Info() Info

	// Load returns p, prepared to run within c. There are three outcomes:
	// 1. The device can run p. Load returns the executable, with its state all
	// zeros at version 0.
	// 2. The device cannot run some nodes of p in their present form. The error wraps
	// Unsupported and is a *Refused that lists all these nodes; the caller may
	// decompose them and try again.
	// 3. Any other failure. An OutOfMemory error gives the memory that is needed
	// and the memory that is available; an Invalid error describes what is wrong
	// with the program.
	Load(ctx context.Context, p *graph.Program, c Capacity) (Executable, error)

	// Join makes the device a member of g, which replaces the previous group.
	// All-reduces of later runs go through g. A device that has not joined a
	// group holds all replicas of its runs.
	Join(ctx context.Context, g Group) error

	// Close frees the device and all executables. Closing twice is legal.
	Close() error
}

// Executable is a loaded program and its state.
type Executable interface {
	// Needs returns the memory that the executable uses.
	Needs() Needs

	// Grow raises the capacity to at least c, keeping the state. After an
	// error the executable is as it was.
	Grow(ctx context.Context, c Capacity) error

	// Write sets a state tensor at the current version. t is copied.
	Write(ctx context.Context, name string, t tensor.Tensor) error

	// WriteAll writes the named tensors with Write, in order. After an error any of them
	// may have been written. For a device in another process, WriteAll sends all tensors
	// together. Other devices may call WriteEach. A type that wraps Write must wrap
	// WriteAll too.
	WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error

	// Read returns a copy of a state tensor of the current version.
	Read(ctx context.Context, name string) (tensor.Tensor, error)

	// Run runs one function and returns its outputs. Inputs are not kept after it returns; outputs
	// belong to the caller. An error leaves state and version as they were. The
	// values that the function keeps are undefined then.
	Run(ctx context.Context, s Step) (Outcome, error)

	// Commit runs the function graph.Commit on the values that the last Run of graph.Train
	// kept, and moves the state from version v to v+1. It is idempotent: an executable that
	// is already at v+1 returns nil and does nothing. At any other version, or if nothing
	// was kept for v, the error wraps Invalid.
	//
	// For the program of a stage, Commit runs on the values that were kept by the last run of graph.Reduce,
	// and by the runs of graph.Backward of the same step. A run of graph.Backward frees its slot and keeps
	// leaves: for each of its replicas, the gradients of this replica. The device holds the leaves until
	// graph.Reduce, which consumes the leaves of all replicas that have rows. A second leaf of the same
	// replica, or a call of Join, drops all leaves that are held.
	//
	// If an element of an update is infinite or NaN, the error of a device with the feature
	// FiniteUpdates wraps NonFinite and names the tensor. The executable then stays at v
	// and keeps nothing, and the tensors that the function updates are undefined until they
	// are written.
	Commit(ctx context.Context, v Version, h Hyper) error

	// Close frees the executable. Closing twice is legal.
	Close() error
}

// Reuser is an Executable that can reuse the memory of its outputs. The first write to
// new memory is slower than computing the values that are written.
type Reuser interface {
	// Reuse is called when the caller does not need these outputs of a Run any more.
	Reuse(outputs []tensor.Tensor)
}

// Viewer is an Executable that gives access to its state without a copy: a copy of the
// weights of a large layer may need more memory than a device has left.
type Viewer interface {
	// View is like Read, but the tensor is valid only until the next call.
	View(ctx context.Context, name string) (tensor.Tensor, error)
}

// WriteEach implements WriteAll by Write, one tensor after the other.
func WriteEach(ctx context.Context, x Executable, names []string, state map[string]tensor.Tensor) error {
	for _, name := range names {
		if err := x.Write(ctx, name, state[name]); err != nil {
			return err
		}
	}
	return nil
}

// Version is the number of commits since Load.
type Version uint64

// Capacity is the size of the largest run that an executable must support.
type Capacity struct {
	Rows     int // number of rows in all replicas together
	Replicas int
	// Slots is the number of slots of a stage that are in use at a time; 0 counts as 1. Each
	// slot has the values of a run of this size. A run may name more slots, but Needs does not
	// include their memory.
	Slots int
	// Leaves is the total number of replicas that a training step of a stage has on this
	// device, over all runs of the step; 0 means Replicas. It determines how many sums of
	// gradients the device holds until graph.Reduce.
	Leaves int
}

// Needs is the memory that an executable uses, in bytes.
type Needs struct {
	Fixed  int64 // bytes of the state and of other memory that does not depend on rows
	PerRow int64 // bytes for each row of the executable's capacity
}

// Step is one run of a function.
type Step struct {
	Function string // name of the function
	// Number is the number of the run in its group, the same on all members. It
	// tags the exchanges.
	Number uint64
	// Rows is the number of rows of each replica held, in replica order.
	Rows []int
	// Inputs are the function's inputs in order, without those that an earlier function
	// keeps. The leading axis of rows tensors is the sum of Rows, and the leading axis of
	// replica tensors is len(Rows).
	Inputs []tensor.Tensor
	// Slot is the slot in which a run of graph.Forward stores the values that it keeps, and
	// from which a run of graph.Backward reads them. Other functions ignore it.
	Slot int
	// Replicas are the numbers of the replicas of Rows, increasing, for a run of
	// graph.Forward or graph.Backward with only some of the replicas that the device holds.
	// nil means all of them.
	Replicas []int
	// Profile asks for Outcome.Nodes. It may make the run slower and changes
	// no result. A device without the feature Profile ignores it.
	Profile bool
	// Last reports that the caller does not expect another run. The device need not keep
	// anything that only makes later runs faster, for example packed weights. It changes no
	// result, and a later run is allowed.
	Last bool
}

// Outcome is the result of a run.
type Outcome struct {
	// Outputs are the function's outputs in order, without those that it keeps. The leading
	// axis of a replica output has length len(Rows), and the leading axis of a rows output
	// has the sum of Rows. Whole outputs have no such axis.
	Outputs []tensor.Tensor
	// Blocked is how long the run waited for other members of the group, or for messages.
	Blocked time.Duration
	// Sending is the part of Blocked that a device on another machine spent waiting for messages.
	Sending time.Duration
	// Took is the whole time of the run on the device.
	Took time.Duration
	// Nodes has each node's share of Took, in the order of the function's nodes, if
	// Step.Profile is set; otherwise it is nil. If a node was fused into another one,
	// its share is 0 and its time is part of the other node's share.
	Nodes []time.Duration
}

// Hyper holds the hyper-parameters of a step: the inputs of the function
// graph.Commit that graph.Train does not keep, by name.
type Hyper map[string]float32
