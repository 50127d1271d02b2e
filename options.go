package bnctl

import (
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/parallel/stage"
)

// TrainOptions are the model, data and devices of a run, and the files for its results. The
// Recipe of the Run that Open returns determines the training itself.
type TrainOptions struct {
	// Model is a name of the zoo ("lenet-bn", "resnet20"), a graph in text form, or any
	// model file; training starts from its weights. A resumed run uses the model of its
	// checkpoint, and refuses another Model unless it is "".
	Model string
	// Start determines how the file Model is read, and the number of classes of a new head. Its Seed and
	// Auxiliary are ignored; the recipe has them. Its Option also names options in events. A resumed run uses
	// Init, Size and, from Preprocess, EXIF and Interpolation, to compare them with its checkpoint.
	Start modelfile.StartOptions

	// Data is the data to train on, and Validation the data for evaluation after each
	// epoch, as data.Open accepts them: "glyphs", "cifar10:PATH", "folder:PATH". Validation
	// "" means no evaluation. In a resumed run "" means the data of the checkpoint.
	Data, Validation string
	// Source and ValidationSource are the caller's data, which replaces Data and
	// Validation. These are then only names, kept in checkpoints. The caller closes the
	// sources. ValidationSource may be nil.
	Source, ValidationSource data.Source
	// ValSplit sets samples of the data apart for validation. The zero value sets no
	// samples apart, or in a resumed run the same samples as the checkpoint. It excludes
	// Validation and ValidationSource.
	ValSplit data.Holdout
	// Samples and ValidationSamples are how many samples of the data are used, drawn by
	// data.Subset; 0: all.
	Samples, ValidationSamples int
	// Task is "segment" for labels that are masks, "detect" for boxes, or "classify" for other labels. Data
	// with other labels is refused. "" accepts all data.
	Task string
	// SkipBad is the number of unreadable picture files that are left out, in the form of data.ParseSkip. Masks
	// defines the meaning of the pixels of masks. In a resumed run, zero values mean the values of the
	// checkpoint. In a new run they mean no files, and the defaults of data.MaskOptions.
	SkipBad string
	Masks   data.MaskOptions
	// Columns names the columns of data of kind csv, as data.Options.Columns. "" means the names in the
	// checkpoint, or in a new run the usual names.
	Columns string

	// Output is the file of the template, NAME.bnm; "" means no file. In a resumed run ""
	// means the file of the checkpoint.
	Output string
	// Checkpoint is the file of the run's checkpoints, NAME.bnc. "" means the name of
	// Output with .bnc, or no file without Output. A checkpoint of another recipe is not
	// replaced, unless Overwrite is set.
	Checkpoint      string
	CheckpointEvery int // steps between checkpoints; 0: one an epoch, or in a resumed run the previous number
	Overwrite       bool
	// Resume is the checkpoint to continue from. "auto" means the file Checkpoint, if it
	// exists, and "" a new run. If Checkpoint, CheckpointEvery, LogEvery, LogDir,
	// DeviceTimeout or Recompute is zero, the value of the checkpoint is used.
	Resume string

	// Fleet names the devices. Its Precision and Most are ignored, because the recipe determines them.
	Fleet      fleet.Options
	AnyKernels bool // permits another kernel class in a resumed run
	// Placement is the number of replicas for each device, "4,2,2", or "speed"; "" is the
	// default of parallel.Config.
	Placement string
	// Peers connects the ranks of the run; nil if there is one. All ranks have the same
	// options. Only rank 0 reads the model's files, and writes.
	Peers         *fabric.Peers
	Workers       int           // goroutines that read and augment; 0: one for each core
	DeviceTimeout time.Duration // train.Config.DeviceTimeout
	Audit         float64       // train.Config.Audit: 0 to 1
	Recompute     string        // train.Config.Recompute
	Stages        stage.Spec    // train.Config.Stages

	LogEvery int // steps between Stepped events; 0: 1, or in a resumed run the previous number
	// LogDir is the folder that the caller writes figures of the run to. Checkpoints store
	// its name. In a resumed run "" means the folder of the checkpoint, and NoLogDir means
	// no folder.
	LogDir string
	// Observer is notified of the events of the run; may be nil. The four options after it
	// request events that cost time.
	Observer Observer
	Copies   bool // looks for equal pictures in the data of a new run: CopiesFound
	Norms    bool // train.Config.Norms: train.Norms
	Details  bool // Evaluates and train.Evaluated
	Plan     bool // measures stages: Divided
	// ResumeCommand returns the command that resumes the run of a checkpoint, for messages;
	// nil: "resume CHECKPOINT".
	ResumeCommand func(checkpoint string) string
}

// NoLogDir is the LogDir of a resumed run that writes no figures, whatever its checkpoint names.
const NoLogDir = "none"

// Observer is notified of the events of a run.
type Observer interface {
	// Observe is called with each event, and the run waits until it returns. An error ends the
	// run: Open, Prepare or Train returns it. If training has begun, Train first completes the step and
	// writes the checkpoint, as it does when its context ends.
	Observe(e Event) error
}

// ObserverFunc is a function as an Observer.
type ObserverFunc func(Event) error

// Observe calls f.
func (f ObserverFunc) Observe(e Event) error { return f(e) }

// Event is an event of a run. Before the first step it is a DataOpened, SamplesHeldOut, CopiesFound,
// ModelMade, Noted, OptionUnused, Resumed, DevicesOpened or Begins. During the training it is a train.Event,
// Divided, Evaluates, train.Evaluated or Chained. At any time it may be a train.Moment, the progress of the
// run.
// Further types may follow: an Observer returns nil for those that it does not know.
type Event any
