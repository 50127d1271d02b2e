package parallel

import (
	"cmp"
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// Nothing in a Config changes a result, except BySpeed on devices of several kernel
// classes, and Local, which is another way of training.

// Member is a device that takes part in a run.
type Member struct {
	Name   string
	Device device.Device
	// Foreign: a device of another maker. What it holds is compared with what others hold.
	Foreign bool
}

// Config says what a driver drives.
type Config struct {
	Replicas int
	Batch    int // largest number of rows of a step, over all replicas
	// Samples is how many rows Predict gets in all, so that devices know which run is the
	// last; 0: not known.
	Samples int
	// Placement is how many of the rank's replicas each device gets while all of
	// them take part. nil: alike, and after Balance as their speeds are.
	Placement []int
	// Peers is the processes of a run, of which each has devices of its own for a
	// range of the replicas: see Ranks. nil: this one holds all replicas. Then all
	// ranks make the same calls of a Driver in the same order. To OpenStaged it is the ranks on which
	// stages lie, each with all replicas of its layers.
	Peers *fabric.Peers
	// BySpeed: Balance moves replicas between devices of several kernel classes
	// too, though results depend on where these are.
	BySpeed bool
	// Template: one device makes every update, and the others get its state.
	Template bool
	// Local: replicas have weights of their own, which a LocalSGD keeps, and their
	// devices never meet.
	Local bool
	// flows: replicas run one after the other, so that a run is of one of them: see Staged.
	flows bool
	stage int // DeviceTime.Stage
	slots int // of replicas that a stage has under way at once; 0: it is none, or they are one run
	// Reopen opens a lost device again, by its name. It is called until it succeeds,
	// after growing pauses, or says FleetClosed. nil: what is lost stays lost.
	Reopen func(ctx context.Context, name string) (device.Device, error)
	// Timeout is how long a device may keep others waiting before it counts as
	// lost, and how long a run without any device waits for one. 0 is 30 s, and ten minutes for
	// a device that is the only one.
	Timeout time.Duration
	// Rendezvous makes places where devices meet without the host. nil: they
	// meet at the host.
	Rendezvous device.Rendezvous
	// Referee computes what Predict does for a row on a device of bnctl's own, to tell which
	// device is wrong. nil: there is none.
	Referee func(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error)
	// Recomputing returns the program that OpenStaged loads in place of its own where a device has too little
	// memory for that: with the same results, and fewer activations. nil: there is none.
	Recomputing func() (*graph.Program, error)
	// Divided is called by OpenPipeline and OpenStaged with the stages of the network, and when these are
	// closed, with the time that they have waited.
	Divided func(*stage.Plan)
	// Measure: OpenStaged measures how long layers take, in a step of two replicas of which nothing is left, and
	// divides the network by that, unless layers are named.
	Measure bool
	Slower  func(why error)      // called if devices that could exchange directly do not
	Lost    func(LostDevice)     // called for every lost device
	Back    func(RejoinedDevice) // called for every device that takes part again
	Moved   func(MovedStage)     // called for every stage whose layers went to devices of another
}

const defaultTimeout = 30 * time.Second

func (c *Config) timeout() time.Duration { return cmp.Or(c.Timeout, defaultTimeout) }
