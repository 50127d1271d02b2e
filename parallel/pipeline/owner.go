package pipeline

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// Owner has the devices of a process, and opens stages on them. Package parallel implements it.
type Owner interface {
	// Devices returns the devices of this process, in the order of the stages.
	Devices() []Device
	// Open loads a part of a program on some of the devices.
	Open(ctx context.Context, l Loading) (Stage, error)
}

// Device describes a device of an Owner.
type Device struct {
	Name string
	Info device.Info
}

// Loading is the part of a program that a stage loads, and how the stage runs it.
type Loading struct {
	Program  *graph.Program
	State    map[string]tensor.Tensor // tensors that are missing begin as zeros
	From, To int                      // devices [From, To) of the Owner, which become the columns of the stage
	Replicas int                      // replicas that the columns share
	Batch    int                      // maximum number of rows over all columns
	Number   int                      // number of the stage, from 1, for training; otherwise 0
	Slots    int                      // maximum number of replicas in progress on a device
	OneByOne bool                     // each run computes a single replica
}

// Stage is a part of the network on its devices. A stage replaces or waits for lost devices by itself, as
// long as one is left, and keeps the same replicas.
//
// The methods are called by one goroutine at a time, except for Call, Together, Predict and Computed.
type Stage interface {
	Computation
	State
	Recovery
	// Close frees the program.
	Close() error
}

// Computation is the part of a Stage that runs functions on the devices.
type Computation interface {
	// Program returns the loaded program.
	Program() *graph.Program
	// Columns returns the present devices. It is empty if all were lost.
	Columns() []Column
	// Rows returns the maximum number of rows of a prediction, over all columns.
	Rows() int
	// Begin admits devices that came back, and returns the number of the next run.
	Begin(ctx context.Context) (run uint64, err error)
	// Call calls f, which runs functions on a column and does not wait for other columns. An error names
	// the column.
	Call(c Column, f func() error) error
	// Together calls f for all columns at once. If one fails, it ends the waiting of the others.
	Together(f func(i int, c Column) error) error
	// Finished records that all columns have finished a run.
	Finished()
	// Evaluate runs a function of whole values on one column, and adds its outputs to values, by name.
	Evaluate(ctx context.Context, f *graph.Function, values map[string]tensor.Tensor) error
	// Predict runs graph.Predict on all rows of its inputs.
	Predict(ctx context.Context, inputs []tensor.Tensor) ([]tensor.Tensor, error)
	// Profile does the same as Predict on one column, and also returns the times of the nodes.
	Profile(ctx context.Context, inputs []tensor.Tensor) (device.Outcome, error)
	// Computed returns the time of all predictions on the slowest column.
	Computed() time.Duration
}

// State is the part of a Stage that has the state and its versions.
type State interface {
	// Write sets state tensors.
	Write(ctx context.Context, state map[string]tensor.Tensor) error
	// State reads all state.
	State(ctx context.Context) (map[string]tensor.Tensor, error)
	// Snapshot does the same as State. A stage that loses all devices begins again with this state.
	Snapshot(ctx context.Context) (map[string]tensor.Tensor, error)
	// Commit makes the next version of the state.
	Commit(ctx context.Context, h device.Hyper) error
	// Skip counts a commit of a stage without trained layers.
	Skip()

	// Version counts the commits of the stage; RollBack sets this number.
	Version() device.Version
	// Retains reports whether the devices have the gradients of a step of that version.
	Retains() bool
	// Retain records that the devices have the gradients of a step.
	Retain()
}

// Recovery is the part of a Stage that handles lost devices.
type Recovery interface {
	// Recover replaces the device that err marks as lost. It returns err if no device was lost. If the
	// last device was lost, it waits for one to come back, at the last Snapshot. If that fails,
	// the error wraps step.NoDevices.
	Recover(ctx context.Context, err error) error
	// Restarted reports that all devices were lost, and the present ones are at the last Snapshot.
	Restarted() bool
	// RollBack records that the devices have the state of version v again.
	RollBack(v device.Version)
	// Reload closes the stage and loads another program on its devices, which are then at the snapshot v.
	// After an error the stage can be reloaded with its previous program.
	Reload(ctx context.Context, l Loading, v device.Version) (Stage, error)
	// Adopt loads another program for predictions on the same devices, in addition.
	Adopt(ctx context.Context, l Loading) (Stage, error)
	// Renumber sets the number of the stage.
	Renumber(number int)
}

// Column is a device of a stage.
type Column interface {
	// Name returns the name of the device.
	Name() string
	// Replicas returns the replicas that the column holds at present.
	Replicas() []int
	// Run runs a function.
	Run(ctx context.Context, s device.Step) (device.Outcome, error)
	// Account adds the duration of a step of training, and its waiting time.
	Account(took, waited time.Duration)
}

// Config configures a Trainer or a Predictor. It never changes a result.
type Config struct {
	Replicas int // number of replicas of a Trainer
	Batch    int // maximum number of rows of a step; of a Predictor, of all stages at once
	Samples  int // total number of rows for a Predictor; 0: unknown
	// Peers are the processes of a run, each with devices for some stages. nil: this process has all
	// stages.
	Peers *fabric.Peers
	// Reopens means that the owner opens lost devices again. A Trainer then keeps a ledger, and moves the
	// layers of a stage without devices.
	Reopens bool
	// Recomputing returns a program with the same results and fewer activations. A Trainer loads it if a
	// device has too little memory for the normal program. It may be nil.
	Recomputing func() (*graph.Program, error)
	// Divided is called with the stages of the network, and again with their waiting times when these are
	// closed. It may be nil.
	Divided func(*stage.Plan)
	// Measure makes a Trainer measure the time of the layers, in steps that leave no trace, and divide
	// the network by these times, unless the user has named the first layers of the stages.
	Measure bool
	Moved   func(MovedStage) // called for every stage that moved to the devices of another; may be nil
}
