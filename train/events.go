package train

import (
	"time"

	"github.com/bnctl/bnctl/parallel"
)

// Event is something that a run tells while it runs. The JSON of each is one
// line of --json, with its name in "event" (CLI contract).
type Event interface{ Event() string }

// Started tells the complete recipe before the first step.
type Started struct {
	Recipe        *Recipe  `json:"recipe"`
	Devices       []string `json:"devices"`
	Placement     []int    `json:"placement"` // replicas of each device
	Kernels       string   `json:"kernels"`
	Deterministic bool     `json:"deterministic"`
	BatchNorm     string   `json:"batch_norm"` // what batch norm sees: "16 samples per replica (128 / 8)"
	Parameters    int      `json:"parameters"`
	FirstStep     int      `json:"first_step"` // above 0 after a resume
	TotalSteps    int      `json:"total_steps"`
	Ranks         int      `json:"ranks,omitempty"` // of which the devices are one's; 0: there are no others
}

// Stepped tells of one optimizer step.
type Stepped struct {
	Step       int     `json:"step"` // counted from 1
	Epoch      int     `json:"epoch"`
	Loss       float64 `json:"loss"`
	Accuracy   float64 `json:"accuracy"`
	LR         float64 `json:"lr"`
	Throughput float64 `json:"images_per_s"`
	InputWait  float64 `json:"input_wait"` // share of the time since the last event
	SyncWait   float64 `json:"sync_wait"`
	Remaining  float64 `json:"eta_s"`

	Ranks []RankShare `json:"ranks,omitempty"` // of a run over several
}

// RankShare is what a rank has done since the last event.
type RankShare struct {
	Rows       int     `json:"rows"`
	Throughput float64 `json:"images_per_s"`
	InputWait  float64 `json:"input_wait"` // share of the time
	SyncWait   float64 `json:"sync_wait"`
	Bytes      int64   `json:"bytes"` // sent to other ranks
}

// EpochDone tells of one epoch. Validation figures are nil where none was made.
type EpochDone struct {
	Epoch         int      `json:"epoch"`
	TrainLoss     float64  `json:"train_loss"`
	TrainAccuracy float64  `json:"train_accuracy"`
	ValLoss       *Figure  `json:"val_loss,omitempty"`
	ValAccuracy   *float64 `json:"val_accuracy,omitempty"`
	ValMIoU       *Figure  `json:"val_miou,omitempty"` // where labels are masks
	Seconds       float64  `json:"seconds"`
	Throughput    float64  `json:"images_per_s"`
	Seen          int      `json:"seen"`
	Dropped       int      `json:"dropped"`
	Repeated      int      `json:"repeated"`
	InputWait     float64  `json:"input_wait"` // share of the epoch's time
	SyncWait      float64  `json:"sync_wait"`
	Gap           *Gap     `json:"gap,omitempty"`     // between training and use
	Warning       string   `json:"warning,omitempty"` // what is wrong with the epoch, and what to do
	Merged        int64    `json:"merged,omitempty"`  // observations of replicas so far, with async:S
	Waited        int64    `json:"waited,omitempty"`  // steps that these waited, in total

	Late *parallel.Lateness `json:"late_gradients,omitempty"` // with --weight-sync async:S

	Ranks []RankShare `json:"ranks,omitempty"` // of a run over several
}

// DeviceLost tells of a device that the run goes on without.
type DeviceLost struct {
	Device  string   `json:"device"`
	Step    int      `json:"step"`
	Reason  string   `json:"reason"`
	MovedTo []string `json:"moved_to"`
}

// DeviceBack tells of a lost device that takes part again.
type DeviceBack struct {
	Device string `json:"device"`
	Step   int    `json:"step"`
}

// AtHost tells that the devices meet at the host, although they could meet by
// themselves.
type AtHost struct {
	Level  string `json:"level"`
	Reason string `json:"reason"`
}

// Placed tells that replicas were moved to the devices that are faster.
type Placed struct {
	Step     int      `json:"step"`
	Devices  []string `json:"devices"`
	Replicas []int    `json:"replicas"` // of each device
}

// StoppedEarly tells that a run ends before its last step.
type StoppedEarly struct {
	Reason      string  `json:"reason"` // "patience"
	Step        int     `json:"step"`
	Evaluations int     `json:"evaluations"` // since the best
	Figure      string  `json:"figure"`      // of the validation data: "accuracy", "loss" or "miou"
	Best        float64 `json:"best"`
	BestEpoch   int     `json:"best_epoch"`
	Save        string  `json:"save"` // which weights become the template
}

// CheckpointWritten tells of a checkpoint on disk.
type CheckpointWritten struct {
	Path string `json:"path"`
	Step int    `json:"step"`
}

// Finished tells of the template that the run wrote.
type Finished struct {
	Model   string  `json:"model"`
	SHA256  string  `json:"sha256"`
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
	Dropped int64   `json:"late_gradients_dropped,omitempty"` // that still waited after the last step
}

// Event names.

func (Started) Event() string           { return "start" }
func (Stepped) Event() string           { return "step" }
func (EpochDone) Event() string         { return "epoch" }
func (DeviceLost) Event() string        { return "device_lost" }
func (DeviceBack) Event() string        { return "device_back" }
func (AtHost) Event() string            { return "level" }
func (Placed) Event() string            { return "placed" }
func (StoppedEarly) Event() string      { return "stopped_early" }
func (CheckpointWritten) Event() string { return "checkpoint" }
func (Finished) Event() string          { return "done" }

// meter adds up where time goes between two events.
type meter struct {
	since            time.Time
	rows             int
	input, sync      time.Duration
	loss             float64
	correct, counted float64
	ranks            []parallel.Share
}

func newMeter() meter { return meter{since: time.Now()} }

// leaveOut counts d, which went for something else than steps, in nothing.
func (m *meter) leaveOut(d time.Duration) { m.since = m.since.Add(d) }

func (m *meter) elapsed() time.Duration { return max(time.Since(m.since), time.Nanosecond) }

func (m *meter) throughput() float64 { return float64(m.rows) / m.elapsed().Seconds() }

func (m *meter) share(d time.Duration) float64 { return d.Seconds() / m.elapsed().Seconds() }

// ratio returns a/b, 0 for an empty b.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
