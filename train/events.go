package train

import (
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/recipe/progress"
)

// Event is a report from a run in progress: Started, Machines, Stepped, EpochDone, Norms, CheckpointWritten,
// DeviceLost, DeviceBack, DeviceJoined, StageMoved, Placed, AtHost, StoppedEarly or Finished. The run calls
// Config.Events with each and waits until it returns. The command prints the JSON of an event, with its name
// as "event", as a line with --json.
type Event interface {
	// Event returns the name: "start", "step", "epoch", "device_lost" ...
	Event() string
}

// Started reports the complete recipe before the first step. It is the first
// event of a run.
type Started struct {
	Recipe        *recipe.Recipe `json:"recipe"`
	Devices       []string       `json:"devices"`   // names, in the order of the fleet
	Placement     []int          `json:"placement"` // replicas of each device
	Kernels       string         `json:"kernels"`   // class of all devices: see KernelClass
	Deterministic bool           `json:"deterministic"`
	Input         string         `json:"input"`            // input of the model: "224x224x3" for pictures
	Pictures      string         `json:"pictures"`         // how samples become inputs
	BatchNorm     string         `json:"batch_norm"`       // for example "16 samples per replica (128 / 8)"
	Moving        string         `json:"moving,omitempty"` // moving statistics of frozen layers
	Parameters    int            `json:"parameters"`       // trained elements: models.Summary
	FirstStep     int            `json:"first_step"`       // above 0 after a resume
	TotalSteps    int            `json:"total_steps"`
	Ranks         int            `json:"ranks,omitempty"` // 0: one rank; Devices are those of rank 0

	Stages []StageShare `json:"stages,omitempty"` // set if the layers are on several devices

	Tensors TensorCounts `json:"tensors"` // number of trained tensors

	Environment *Environment   `json:"environment,omitempty"`
	Paths       progress.Paths `json:"paths"`                // Config.Paths
	Checkpoint  string         `json:"checkpoint,omitempty"` // Config.Checkpoint
	GoOn        string         `json:"go_on,omitempty"`      // Config.GoOn
}

// Machines reports the data of a step that the host exchanges with other machines. It follows Started if
// some devices are on other machines.
type Machines struct {
	Machines []MachinePlan `json:"machines,omitempty"`
	// Measured is set in a second Machines event, after a few steps. That event has no plan.
	Measured []MachineShare `json:"measured,omitempty"`
}

// MachinePlan is the expected traffic with a machine in a step of a full batch.
type MachinePlan struct {
	Machine   string   `json:"machine"` // address
	Devices   []string `json:"devices"`
	Replicas  int      `json:"replicas"`
	Sent      int64    `json:"sent_bytes"`     // bytes that the host sends in a step
	Received  int64    `json:"received_bytes"` // bytes that the host receives in a step
	RowBytes  int64    `json:"row_bytes"`      // the part of Sent and Received that grows with the rows
	Waits     int      `json:"waits"`          // round trips of a step, one after the other
	RoundTrip float64  `json:"round_trip_s"`   // measured when the device was opened
	Rate      float64  `json:"bytes_per_s"`    // measured when the device was opened; 0: unknown
	Network   float64  `json:"network_s"`      // network time of a step if nothing overlaps; 0: unknown
}

// Stepped reports the optimizer steps since the previous Stepped, every Config.LogEvery
// steps and after the last step of a run.
type Stepped struct {
	Step       int               `json:"step"`     // counted from 1
	Epoch      int               `json:"epoch"`    // counted from 1
	Loss       float64           `json:"loss"`     // mean cross-entropy of a label, or another loss
	Accuracy   evaluation.Figure `json:"accuracy"` // share of correct labels, 0 to 1; NaN with numbers
	LR         float64           `json:"lr"`       // learning rate of the step
	Throughput float64           `json:"images_per_s"`
	InputWait  float64           `json:"input_wait"` // share of the time since the last event, 0 to 1
	SyncWait   float64           `json:"sync_wait"`  // share of time that devices waited for each other
	Remaining  float64           `json:"eta_s"`      // seconds to the end of the run, at this throughput

	Devices  []DeviceShare  `json:"devices,omitempty"` // how each device spent the time
	Machines []MachineShare `json:"machines,omitempty"`
	Ranks    []RankShare    `json:"ranks,omitempty"` // figures of each rank; only with several ranks
}

// DeviceShare has the figures of a device of this rank since the last event, as shares of
// the time. The rest of 1 is input, which all devices wait for together, and work of the
// host.
type DeviceShare struct {
	Device   string  `json:"device"`
	Stage    int     `json:"stage,omitempty"` // in Started.Stages, from 1; 0: the device has all layers
	Replicas int     `json:"replicas"`        // number of replicas now
	Compute  float64 `json:"compute"`
	SyncWait float64 `json:"sync_wait"` // time of waiting for other devices, or for messages
	// Sending is the part of SyncWait in which a device on another machine waited for messages.
	Sending float64 `json:"sending,omitempty"`
}

// MachineShare has the figures of another machine since the last event: the mean over its devices, as
// shares of the time, and the bytes of its connections.
type MachineShare struct {
	Machine  string  `json:"machine"` // address
	Replicas int     `json:"replicas"`
	Compute  float64 `json:"compute"`
	Waiting  float64 `json:"waiting"`        // time of waiting for other devices
	Sending  float64 `json:"sending"`        // time of waiting while messages were on their way
	Sent     int64   `json:"sent_bytes"`     // bytes that the host sent
	Received int64   `json:"received_bytes"` // bytes that the host received
	// BreakEven has measured figures. It is nil if no other device computes, or if the rate of the link is
	// unknown.
	BreakEven *BreakEven `json:"break_even,omitempty"`
}

// StageShare describes the layers of a stage, and the share of the time of steps that its
// devices wait for others and for transfers between stages.
type StageShare struct {
	Devices  []string `json:"devices"`
	First    string   `json:"first"` // name of the first layer
	Last     string   `json:"last"`
	Layers   int      `json:"layers"`
	Expected float64  `json:"wait_expected"` // expected by the plan
	Waited   float64  `json:"wait"`          // measured; 0 before the first step
}

// StagedStep is the mean duration of a step over stages, with the update. The first step is
// excluded, since devices allocate their memory in it.
type StagedStep struct {
	Seconds  float64 `json:"seconds"`
	Expected float64 `json:"expected"` // expected by the plan
}

// RankShare has the figures of a rank since the last event.
type RankShare struct {
	Rows       int     `json:"rows"`
	Throughput float64 `json:"images_per_s"`
	Compute    float64 `json:"compute"`    // share of the time, as the mean over the devices of the rank
	InputWait  float64 `json:"input_wait"` // share of the time
	SyncWait   float64 `json:"sync_wait"`
	Bytes      int64   `json:"bytes"` // bytes sent to other ranks
}

// EpochDone reports an epoch, after its evaluation. Losses are mean cross-entropies per
// label (other losses per element), accuracies are shares from 0 to 1, NaN with numbers.
// Validation figures are nil if there was no evaluation.
type EpochDone struct {
	Epoch     int     `json:"epoch"`      // counted from 1
	TrainLoss float64 `json:"train_loss"` // computed while the weights changed
	// TrainLossIs lists the terms of TrainLoss that ValLoss lacks: "weighted", "smoothed",
	// "mixed".
	TrainLossIs   []string           `json:"train_loss_is,omitempty"`
	TrainAccuracy evaluation.Figure  `json:"train_accuracy"`
	ValLoss       *evaluation.Figure `json:"val_loss,omitempty"`
	ValAccuracy   *float64           `json:"val_accuracy,omitempty"`
	ValMIoU       *evaluation.Figure `json:"val_miou,omitempty"` // only if labels are masks
	// ValAP and ValAP50 are COCO's AP and AP50 of boxes, in pixels of the model's input.
	ValAP      *evaluation.Figure `json:"val_ap,omitempty"`
	ValAP50    *evaluation.Figure `json:"val_ap50,omitempty"`
	ValR2      *evaluation.Figure `json:"val_r2,omitempty"`   // mean over the targets, for numbers
	LeftOut    int                `json:"left_out,omitempty"` // steps without a label that counts
	Seconds    float64            `json:"seconds"`
	Throughput float64            `json:"images_per_s"`
	Seen       int                `json:"seen"`              // samples
	Dropped    int                `json:"dropped"`           // samples that tail "drop" left out
	Repeated   int                `json:"repeated"`          // samples that tail "repeat" gave twice
	InputWait  float64            `json:"input_wait"`        // share of the epoch's time, 0 to 1
	SyncWait   float64            `json:"sync_wait"`         // share of time that devices waited for each other
	Gap        *Gap               `json:"gap,omitempty"`     // between training and use
	Warning    string             `json:"warning,omitempty"` // a problem of the epoch, with advice
	Merged     int64              `json:"merged,omitempty"`  // observations of replicas so far, with async:S
	Waited     int64              `json:"waited,omitempty"`  // total number of steps that Merged has waited

	Staleness *weightsync.Staleness `json:"late_gradients,omitempty"` // staleness, with Sync "async:S"

	Devices  []DeviceShare     `json:"devices,omitempty"` // how each device spent the time
	Machines []MachineShare    `json:"machines,omitempty"`
	Ranks    []RankShare       `json:"ranks,omitempty"` // figures of each rank; only with several ranks
	Best     *models.BestEpoch `json:"best,omitempty"`  // best epoch so far; nil before an evaluation
}

// DeviceLost reports the loss of a device. The run continues without it. Its part of the
// current step is computed again on other devices: the result stays the same.
type DeviceLost struct {
	Device  string   `json:"device"`
	Step    int      `json:"step"`     // steps done
	Reason  string   `json:"reason"`   // the error of the loss
	MovedTo []string `json:"moved_to"` // devices that have the replicas of the lost device now
	// Excluded is the reason why the device is not opened again: it was lost too often. It is "" if it is
	// opened again.
	Excluded string `json:"excluded,omitempty"`
}

// DeviceBack reports that a lost device was opened again and is used.
type DeviceBack struct {
	Device string `json:"device"`
	Step   int    `json:"step"` // steps done
}

// DeviceJoined reports that a device that was not there at the start is used.
type DeviceJoined struct {
	Device string `json:"device"`
	Step   int    `json:"step"` // steps done
}

// StageMoved reports that a stage has lost all of its devices, and that its layers moved to
// the stage before or after it: there is one stage less. The move changes no bit.
type StageMoved struct {
	Stage int      `json:"stage"` // number of the lost stage, from 1
	First string   `json:"first"` // name of the first layer of the lost stage
	Last  string   `json:"last"`
	To    []string `json:"to"`   // devices that have the layers now
	Step  int      `json:"step"` // steps done
}

// AtHost reports that the devices exchange values through the host, because the direct exchange failed.
type AtHost struct {
	Level  string `json:"level"`  // the level used instead: device.Stream
	Reason string `json:"reason"` // error of the direct exchange
}

// Placed reports that replicas were moved to faster devices, with
// Config.BySpeed. The move changes no bit.
type Placed struct {
	Step     int      `json:"step"`     // steps done
	Devices  []string `json:"devices"`  // names
	Replicas []int    `json:"replicas"` // number of replicas of each device
}

// StoppedEarly reports that a run ends before its last step.
type StoppedEarly struct {
	Reason      string  `json:"reason"` // "patience"
	Step        int     `json:"step"`
	Evaluations int     `json:"evaluations"` // evaluations since the best one
	Figure      string  `json:"figure"`      // figure of validation data: "accuracy", "loss" or "miou"
	Best        float64 `json:"best"`        // the figure of the best evaluation
	BestEpoch   int     `json:"best_epoch"`  // counted from 1
	Save        string  `json:"save"`        // weights that become the template
}

// CheckpointWritten reports that a checkpoint is completely on disk.
type CheckpointWritten struct {
	Path string `json:"path"`
	Step int    `json:"step"` // steps done
}

// Moment is the progress of a run between its events.
type Moment struct {
	Step    int    // optimizer steps done
	Epoch   int    // current epoch, or the one that has just ended; counted from 1
	Doing   string // current activity other than steps: "evaluating", "estimating statistics", and so on
	Samples int    // samples that Doing has completed
	Of      int    // number of samples that Doing has to complete; 0: unknown

	// Rows, Loss and Accuracy describe a step that was just done: its rows, mean loss and share of
	// correct labels. Otherwise Rows is 0.
	Rows           int
	Loss, Accuracy float64
	// InputWait, Devices and Ranks report how the time since the last Stepped was spent. They are set together
	// with Rows.
	InputWait float64
	Devices   []DeviceShare
	Ranks     []RankShare
}

// Losses counts how often a device was lost.
type Losses struct {
	Device   string `json:"device"`
	Times    int    `json:"times"`
	Excluded string `json:"excluded,omitempty"` // why the device was not opened again; "" if it was opened
}

// Finished reports the template of a finished run. Session.Finished returns it
// to a caller that has written the file.
type Finished struct {
	Model   string  `json:"model"`                            // path
	SHA256  string  `json:"sha256"`                           // SHA-256 of the file, in hexadecimal
	Steps   int     `json:"steps"`                            // steps of the whole run
	Seconds float64 `json:"seconds"`                          // since Session.Run began
	Dropped int64   `json:"late_gradients_dropped,omitempty"` // late gradients that still waited at the end

	Audited int `json:"audited,omitempty"` // runs of replicas that were repeated, with Config.Audit

	Lost   []Losses     `json:"devices_lost,omitempty"` // devices that were lost during the run
	Stages []StageShare `json:"stages,omitempty"`       // Started.Stages, with the time that the stages waited
	Step   *StagedStep  `json:"staged_step,omitempty"`

	// BestEpoch, its figure and its weights describe the best evaluation. BestEpoch is 0 without an evaluation.
	BestEpoch int     `json:"best_epoch,omitempty"` // counted from 1
	Best      float64 `json:"best,omitempty"`
	Figure    string  `json:"figure,omitempty"`  // accuracy, loss or miou
	Save      string  `json:"save,omitempty"`    // weights that become the template
	OfBest    bool    `json:"of_best,omitempty"` // the template has the best weights
	BestIn    string  `json:"best_in,omitempty"` // if not OfBest: a checkpoint with the best weights, or ""
}

// These are the names of the events.

func (Started) Event() string           { return "start" }
func (Machines) Event() string          { return "machines" }
func (Stepped) Event() string           { return "step" }
func (EpochDone) Event() string         { return "epoch" }
func (DeviceLost) Event() string        { return "device_lost" }
func (DeviceBack) Event() string        { return "device_back" }
func (DeviceJoined) Event() string      { return "device_joined" }
func (StageMoved) Event() string        { return "stage_moved" }
func (AtHost) Event() string            { return "level" }
func (Placed) Event() string            { return "placed" }
func (StoppedEarly) Event() string      { return "stopped_early" }
func (CheckpointWritten) Event() string { return "checkpoint" }
func (Finished) Event() string          { return "done" }

// ratio returns a/b, 0 for an empty b.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
