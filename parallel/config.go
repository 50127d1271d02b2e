package parallel

import (
	"cmp"
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/pipeline"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// A Config never changes a result, except for BySpeed on devices of several kernel classes,
// and for Local, which is a different training method.

// Member is a device that participates in a run.
type Member struct {
	Name   string
	Device device.Device
	// Foreign marks a device from another maker. Its state is compared with the other
	// members.
	Foreign bool
}

// Config configures a Driver.
type Config struct {
	Replicas int
	Batch    int // largest number of rows of a step, over all replicas
	// Samples is the total number of rows for Predict, so that devices know which run is
	// the last; 0: unknown.
	Samples int
	// Placement is the number of the rank's replicas on each device while all devices
	// participate. nil: evenly, and after Balance in proportion to their speeds.
	Placement []int
	// Peers are the processes of a run. Each has devices for a range of the replicas (see
	// Ranks), and all ranks make the same calls of a Driver in the same order. nil: this
	// process holds all replicas. For OpenStaged, Peers are the ranks that hold the stages,
	// each with all replicas of its layers.
	Peers *fabric.Peers
	// BySpeed lets Balance move replicas between devices of several kernel classes too,
	// although results then depend on the placement.
	BySpeed bool
	// Template makes one device compute every update and send its state to the others.
	Template bool
	// Local gives each replica separate weights, which a weightsync.LocalSGD keeps. The devices never
	// exchange values.
	Local bool
	// flows makes a run compute a single replica, so replicas run one after the other: see
	// Staged.
	flows bool
	stage int // DeviceTime.Stage
	slots int // maximum number of replicas in progress in a stage; 0: not a stage, or its replicas are one run
	// Reopen opens a lost device again, by its name. It is called until it succeeds, after
	// growing pauses, or until it returns FleetClosed or Withdrawn. nil: a lost device stays
	// lost.
	Reopen func(ctx context.Context, name string) (device.Device, error)
	// Joins delivers devices that were not there at Open. Each becomes a member before the next
	// run, once there is a replica for it. From then on it belongs to the driver, which closes it.
	// Reopen must be set, too. OpenPipeline and OpenStaged do not use Joins. nil: no device joins.
	Joins <-chan Member
	// Timeout is the time that a device may keep others waiting before it counts as lost,
	// and the time that a run without devices waits for one. 0 is 30 s, or ten minutes for
	// the only device.
	Timeout time.Duration
	// Rendezvous makes places where devices meet without the host. nil: they
	// meet at the host.
	Rendezvous device.Rendezvous
	// Audit returns the number of the step that follows version v, and the replicas of this step
	// that another device runs again. Both runs must give the same bits. A machine that gives other
	// bits is lost for good. Audit is not used with Peers, Local or stages, or if all replicas are
	// on one machine. nil: nothing is repeated.
	Audit func(v device.Version) (step int, replicas []int)
	// Referee predicts one row on a built-in device, to decide which device is wrong. It
	// may be nil.
	Referee func(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error)
	// Recomputing returns a program with the same results and fewer activations. OpenStaged
	// loads it if a device has too little memory for the normal program. It may be nil.
	Recomputing func() (*graph.Program, error)
	// Divided is called by OpenPipeline and OpenStaged with the stages of the network. It is called
	// again, with the waiting times of the stages, when the Pipeline or Staged is closed.
	Divided func(*stage.Plan)
	// Measure makes OpenStaged measure the time of the layers, in steps that leave no trace, and divide
	// the network by these times, unless the user has named the first layers of the stages.
	Measure bool
	Slower  func(why error)      // called if devices that could exchange directly do not
	Lost    func(LostDevice)     // called for every lost device
	Back    func(RejoinedDevice) // called for every device that rejoins
	Moved   func(MovedStage)     // called for every stage that moved to the devices of another stage
}

const defaultTimeout = 30 * time.Second

func (c *Config) timeout() time.Duration { return cmp.Or(c.Timeout, defaultTimeout) }

// Stages is the number of stages, or the layers at which they begin. The zero value is one
// stage.
type Stages = stage.Spec

// Plan describes the stages, for callers that do not need package stage.
type Plan = stage.Plan

// MovedStage reports that a stage has lost all devices and its layers moved to the devices
// of another stage.
type MovedStage = pipeline.MovedStage

// The callbacks of a Config get these reports.

// LostDevice reports a lost device.
type LostDevice struct {
	Device  string
	Step    uint64 // version of the state
	Reason  error
	MovedTo []string // devices that got the replicas; empty if the lost device was the last one
	// Excluded is the reason why the device is not opened again: it was lost too often. "" if it
	// will be opened again.
	Excluded string
}

// RejoinedDevice reports a lost device that participates again, or one that joins.
type RejoinedDevice struct {
	Device string
	Step   uint64 // version of the state
	New    bool   // the device came from Config.Joins
}
