package report

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/train"
)

// Run is what is known about a training run from its logs or its checkpoint.
type Run struct {
	Name   string   // name of the folder or file that it was read from
	Path   string   // path of the folder or file
	Notes  []string // messages about parts that could not be read or were left out
	Events []string // events other than steps and epochs, in order

	start      start
	recipe     []field // from the start of the run, or from a checkpoint
	steps      []step
	epochs     []epoch
	norms      []train.Norms
	done       *finished
	stopped    string // why the run ended before its last step; "" if it did not
	stands     int    // number of optimizer steps done
	checkpoint string // path of the last checkpoint
	evaluation *evaluated
	repeated   int // number of steps that were repeated after resuming
	resumed    int // number of times that the run was resumed
}

// figure is a number in a log. It is NaN if the value is missing, null or not a number.
type figure struct{ v *float64 }

func (f figure) float() float64 {
	if f.v == nil {
		return math.NaN()
	}
	return *f.v
}

func (f figure) isFinite() bool { return !math.IsNaN(f.float()) && !math.IsInf(f.float(), 0) }

// UnmarshalJSON implements json.Unmarshaler. A value that is not a number becomes NaN.
func (f *figure) UnmarshalJSON(b []byte) error {
	v := math.NaN()
	if json.Unmarshal(b, &v) != nil {
		v = math.NaN()
	}
	f.v = &v
	return nil
}

// start has those fields of the event that starts or resumes a run that a report shows.
type start struct {
	Recipe        json.RawMessage    `json:"recipe"`
	Devices       []string           `json:"devices"`
	Placement     []int              `json:"placement"`
	Kernels       string             `json:"kernels"`
	Deterministic *bool              `json:"deterministic"`
	Input         string             `json:"input"`
	Pictures      string             `json:"pictures"`
	BatchNorm     string             `json:"batch_norm"`
	Parameters    int                `json:"parameters"`
	FirstStep     int                `json:"first_step"`
	TotalSteps    int                `json:"total_steps"`
	Ranks         int                `json:"ranks"`
	Stages        []train.StageShare `json:"stages"`
	Environment   *train.Environment `json:"environment"`
	Paths         progress.Paths     `json:"paths"`
	Checkpoint    string             `json:"checkpoint"`
	GoOn          string             `json:"go_on"`

	recipe knownRecipe
}

// knownRecipe has those fields of a recipe that a report uses by name. Recipes of other releases may lack
// some of them.
type knownRecipe struct {
	Release    string      `json:"release"`
	Model      string      `json:"model"`
	Data       recipe.Data `json:"data"`
	Validation recipe.Data `json:"validation"`
	Epochs     int         `json:"epochs"`
	Steps      int         `json:"steps"`
	Schedule   string      `json:"schedule"`
	Save       string      `json:"save"`
	BN         string      `json:"bn"`
	Precision  string      `json:"precision"`
	Smoothing  float64     `json:"label_smoothing"`
}

type step struct {
	Step       int    `json:"step"`
	Epoch      int    `json:"epoch"`
	Loss       figure `json:"loss"`
	Accuracy   figure `json:"accuracy"`
	LR         figure `json:"lr"`
	Throughput figure `json:"images_per_s"`
}

type epoch struct {
	Epoch         int       `json:"epoch"`
	TrainLoss     figure    `json:"train_loss"`
	TrainAccuracy figure    `json:"train_accuracy"`
	ValLoss       figure    `json:"val_loss"`
	ValAccuracy   figure    `json:"val_accuracy"`
	ValMIoU       figure    `json:"val_miou"`
	ValAP50       figure    `json:"val_ap50"`
	Seconds       figure    `json:"seconds"`
	Throughput    figure    `json:"images_per_s"`
	Seen          int       `json:"seen"`
	Dropped       int       `json:"dropped"`
	Repeated      int       `json:"repeated"`
	InputWait     figure    `json:"input_wait"`
	SyncWait      figure    `json:"sync_wait"`
	Gap           *gap      `json:"gap"`
	Warning       string    `json:"warning"`
	Devices       []portion `json:"devices"`
	Machines      []portion `json:"machines"`
	Ranks         []portion `json:"ranks"`
}

// portion has the shares of the time that a device or a rank spent on each activity.
type portion struct {
	Device     string `json:"device"`
	Stage      int    `json:"stage"`
	Machine    string `json:"machine"` // name of a machine; the shares are of its waiting and sending
	Waiting    figure `json:"waiting"`
	Sending    figure `json:"sending"`
	Compute    figure `json:"compute"`
	InputWait  figure `json:"input_wait"`
	SyncWait   figure `json:"sync_wait"`
	Throughput figure `json:"images_per_s"`

	BreakEven *train.BreakEven `json:"break_even"` // conditions under which another machine helps
}

// score returns the main figure of the run after the epoch and its name. It is mIoU or AP50 if the run has
// it, otherwise the accuracy on validation data, or else the accuracy on training data.
func (e *epoch) score() (v float64, name string) {
	switch {
	case e.ValMIoU.v != nil:
		return e.ValMIoU.float(), "mIoU"
	case e.ValAP50.v != nil:
		return e.ValAP50.float(), "AP50"
	case e.ValAccuracy.v != nil:
		return e.ValAccuracy.float(), "accuracy"
	}
	return e.TrainAccuracy.float(), "train accuracy"
}

type gap struct {
	Batch   figure `json:"batch_loss"`
	Running figure `json:"running_loss"`
	Advice  string `json:"advice"`
}

type finished struct {
	Model     string             `json:"model"`
	SHA256    string             `json:"sha256"`
	Steps     int                `json:"steps"`
	Seconds   figure             `json:"seconds"`
	Lost      []train.Losses     `json:"devices_lost"`
	Stages    []train.StageShare `json:"stages"`
	Step      *train.StagedStep  `json:"staged_step"`
	BestEpoch int                `json:"best_epoch"`
	Best      figure             `json:"best"`
	Figure    string             `json:"figure"`
	Save      string             `json:"save"`
}

// field is an entry of a recipe.
type field struct{ Name, Value string }

// best returns the epoch with the best score, or nil without epochs.
func (r *Run) best() *epoch {
	var best *epoch
	for i := range r.epochs {
		e := &r.epochs[i]
		v, _ := e.score()
		if best == nil {
			best = e
			continue
		}
		if b, _ := best.score(); v > b || math.IsNaN(b) && !math.IsNaN(v) {
			best = e
		}
	}
	return best
}

// seconds returns the total time of the epochs.
func (r *Run) seconds() float64 {
	total := 0.0
	for _, e := range r.epochs {
		if e.Seconds.isFinite() {
			total += e.Seconds.float()
		}
	}
	return total
}

// state describes how the run ended.
func (r *Run) state() string {
	switch {
	case r.done != nil && r.stopped != "":
		return "stopped early"
	case r.done != nil:
		return "finished"
	case r.start.TotalSteps > 0 && r.stands >= r.start.TotalSteps:
		return "all " + strconv.Itoa(r.stands) + " steps done"
	case r.start.TotalSteps > 0:
		return "not finished: " + strconv.Itoa(r.stands) + " of " + strconv.Itoa(r.start.TotalSteps) + " steps"
	}
	return "not finished"
}
