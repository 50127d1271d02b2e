package device

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Device is an opened device. Its methods and those of its executables may be
// called from any goroutine, one at a time (but see Ahead). Close may be called at
// any time and ends a call that is under way.
type Device interface {
	// Info describes the device. It costs nothing and never fails.
	Info() Info

	// Load returns p, prepared to be run within c. Three things might happen:
	// 1. The device can run p. The executable is returned, its state all
	// zeros at version 0.
	// 2. The device cannot run some nodes of p as they stand. The error wraps
	// Unsupported and is a *Refused that lists all such nodes; the caller may
	// decompose them and try again.
	// 3. Anything else is wrong: OutOfMemory says how much is needed and how
	// much is there, Invalid what is wrong with the program.
	Load(ctx context.Context, p *graph.Program, c Capacity) (Executable, error)

	// Join makes the device a member of a group, in place of the former one.
	// All-reduces of later runs go through g. A device that has not joined
	// holds all replicas of whatever it runs.
	Join(ctx context.Context, g Group) error

	// Close frees the device and all executables. Closing twice is legal.
	Close() error
}

// Executable is a loaded program and its state.
type Executable interface {
	// Needs returns the memory that the executable takes.
	Needs() Needs

	// Grow raises the capacity to at least c, keeping the state. After an
	// error the executable is as it was.
	Grow(ctx context.Context, c Capacity) error

	// Write sets a state tensor at the current version. t is copied.
	Write(ctx context.Context, name string, t tensor.Tensor) error

	// WriteAll is Write of the tensor of each name, in order. After an error any
	// of them may have been written. A device behind a wire sends them together;
	// others may use WriteEach. A type that wraps Write must wrap WriteAll too.
	WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error

	// Read returns a copy of a state tensor of the current version.
	Read(ctx context.Context, name string) (tensor.Tensor, error)

	// Run runs one function and returns its outputs. Inputs are not kept after it returns; outputs
	// belong to the caller. An error leaves state and version as they were. The
	// values that the function keeps are undefined then.
	Run(ctx context.Context, s Step) (Outcome, error)

	// Commit runs the function graph.Commit on what the last Run of
	// graph.Train kept and makes version v+1 of version v. It is idempotent:
	// an executable that is already at v+1 returns nil and does nothing. At
	// any other version, or if nothing was kept for v, the error wraps Invalid.
	//
	// Of the program of a stage Commit runs on what the last run of graph.Reduce kept, and runs of
	// graph.Backward for the same step before it. A run of graph.Backward frees its slot. Leaves wait
	// for graph.Reduce, which takes those of all replicas that have rows; a leaf that comes a second
	// time, and Join, drop those that wait.
	//
	// If an element of an update is infinite or NaN, the error of a device with
	// the feature FiniteUpdates wraps NonFinite and names the tensor. The
	// executable then stays at v and keeps nothing, and the tensors that the
	// function updates are undefined until they are written.
	Commit(ctx context.Context, v Version, h Hyper) error

	// Close frees the executable. Closing twice is legal.
	Close() error
}

// Reuser is an Executable that takes the memory of outputs back. Memory that was not touched
// yet costs more than computing what lies there.
type Reuser interface {
	// Reuse says that nobody reads these outputs of a Run any more.
	Reuse(outputs []tensor.Tensor)
}

// Viewer is an Executable that shows its state where it lies: a copy of the weights of a large layer may be
// more than a device has left.
type Viewer interface {
	// View is Read of a tensor that is valid until the next call.
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

// Capacity is the largest size of a run that an executable is asked for.
type Capacity struct {
	Rows     int // in all replicas together
	Replicas int
	// Slots is how many slots of a stage are taken at a time, each by a run of that size; 0 counts as 1. A run
	// may name more: they are memory that nobody has counted.
	Slots int
	// Leaves is how many replicas a step of a stage has on this device in all, in several runs; 0: Replicas. So
	// a device knows how many sums of gradients wait for others.
	Leaves int
}

// Needs is the memory that an executable takes, in bytes.
type Needs struct {
	Fixed  int64 // for the state and whatever does not depend on rows
	PerRow int64 // for each row of its capacity
}

// Step is one run of a function.
type Step struct {
	Function string // name of the function
	// Number is the number of the run in its group, the same on all members. It
	// tags the exchanges.
	Number uint64
	// Rows is the number of rows of each replica held, in replica order.
	Rows []int
	// Inputs are the function's inputs in order, without those that a function before it keeps:
	// rows tensors with a leading
	// axis of the sum of Rows, replica tensors with one of len(Rows).
	Inputs []tensor.Tensor
	// Slot is where a run of graph.Forward keeps what it keeps, and from where one of graph.Backward
	// takes it. Other functions ignore it.
	Slot int
	// Replicas are the numbers of the replicas of Rows, increasing, for a run of graph.Forward or
	// graph.Backward with some of those that the device holds. nil: all.
	Replicas []int
	// Profile asks for Outcome.Nodes. It may make the run slower and changes
	// no result. A device without the feature of that name ignores it.
	Profile bool
	// Last says that, as far as the caller knows, no run follows. The device need not keep
	// what only later runs would save time with, such as packed weights. It changes no
	// result, and a later run is allowed.
	Last bool
}

// Outcome is what a run returns.
type Outcome struct {
	// Outputs are the function's outputs in order, without those that it keeps.
	// Replica outputs have a leading axis of length len(Rows), rows outputs one
	// of the sum of Rows, whole outputs none.
	Outputs []tensor.Tensor
	// Blocked is how long the run waited for other members of the group.
	Blocked time.Duration
	// Took is the whole time of the run on the device.
	Took time.Duration
	// Nodes has the share of Took of each node of the function, in order, if the
	// step asked for it; else it is nil. The time of a node that was fused into
	// another counts there, and it has 0 itself.
	Nodes []time.Duration
}

// Hyper holds the hyper-parameters of a step: the inputs of the function
// graph.Commit that graph.Train does not keep, by name.
type Hyper map[string]float32
