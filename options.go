package bnctl

import (
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/serialize/chain"
	"github.com/bnctl/bnctl/train"
)

// TrainOptions are the model, data and devices of a run, and the files for its results. The
// Recipe of the Run that Open returns determines the training itself.
type TrainOptions struct {
	// Model is a name of the zoo ("lenet-bn", "resnet20"), a graph in text form, or any
	// model file; training starts from its weights. A resumed run uses the model of its
	// checkpoint, and refuses another Model unless it is "".
	Model string
	// Start determines how the file Model is read, and the number of classes of a new head.
	// Its Seed and Auxiliary are ignored in favour of the recipe. Its Option names options
	// in events, too. A resumed run uses Init, Size and, from Preprocess, EXIF and
	// Interpolation, to compare them with its checkpoint.
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
	// Task is "segment" for labels that are masks, "classify" for others: other data is
	// refused. "" accepts both.
	Task string
	// SkipBad is how many unreadable picture files are left out, as data.ParseSkip accepts
	// it. Masks defines the meaning of the pixels of masks. Zero values mean the same as
	// before in a resumed run, else no files and the defaults of data.MaskOptions.
	SkipBad string
	Masks   data.MaskOptions
	// Columns names the columns of data of kind csv, as data.Options.Columns; "": as before in a
	// resumed run, else their usual names.
	Columns string

	// Output is the file of the template, NAME.bnm; "" means no file. In a resumed run ""
	// means the file of the checkpoint.
	Output string
	// Checkpoint is the file of the run's checkpoints, NAME.bnc. "" means the name of
	// Output with .bnc, or no file without Output. A checkpoint of another recipe is not
	// replaced, unless Overwrite is set.
	Checkpoint      string
	CheckpointEvery int // steps between checkpoints; 0: one an epoch, or in a resumed run as before
	Overwrite       bool
	// Resume is the checkpoint to continue from. "auto" means the file Checkpoint, if it
	// exists, and "" a new run. If Checkpoint, CheckpointEvery, LogEvery, LogDir,
	// DeviceTimeout or Recompute is zero, the value of the checkpoint is used.
	Resume string

	// Fleet names the devices. Its Precision and Most are ignored: the recipe's count.
	Fleet      fleet.Options
	AnyKernels bool // permits another kernel class in a resumed run
	// Placement is the number of replicas for each device, "4,2,2", or "speed"; "" is the
	// default of parallel.Config.
	Placement string
	// Peers connects the ranks of the run; nil if there is one. All ranks have the same
	// options. Only rank 0 reads the model's files, and writes.
	Peers         *fabric.Peers
	Workers       int               // goroutines that read and augment; 0: one for each core
	DeviceTimeout time.Duration     // train.Config.DeviceTimeout
	Recompute     string            // train.Config.Recompute
	Stages        stage.Spec        // train.Config.Stages
	Divided       func(*stage.Plan) // train.Config.Divided

	LogEvery int // steps between Stepped events; 0: each, or in a resumed run as before
	// LogDir is the folder that the caller writes figures of the run to. Checkpoints store
	// its name. In a resumed run "" means the folder of the checkpoint, and NoLogDir means
	// no folder.
	LogDir string
	Events func(train.Event)  // called with each event of the run; may be nil
	Watch  func(train.Moment) // train.Config.Watch; may be nil
	Norms  bool               // train.Config.Norms
	// Chained is called with the chain of the run after every epoch, when it is written beside the output.
	// An error ends the run. It may be nil.
	Chained func(*chain.Chain) error
	// Observe and Evaluated are passed to train.Config. Each may be nil.
	Observe   func() evaluation.Observers
	Evaluated func(train.Evaluated)
	Observer  Observer
	// ResumeCommand returns the command that resumes the run of a checkpoint, for messages;
	// nil: "resume CHECKPOINT".
	ResumeCommand func(checkpoint string) string
}

// NoLogDir is the LogDir of a resumed run that writes no figures, whatever its checkpoint names.
const NoLogDir = "none"

// Observer has functions that are called as soon as something of a run is known, before it
// has events. Each may be nil.
type Observer struct {
	Data    func(option string, i data.Info) // "data" or "val" was opened
	Split   func(h *data.HeldOut)            // samples of the data were set apart for validation
	Copies  func(c *data.Copies)             // there are equal pictures in the data of a new run
	Model   func(m *modelfile.Started)       // of a new run
	Note    func(format string, args ...any) // a message for the user
	Unused  func(err error)                  // a *problem.Error: an option of a new run that has no effect
	Devices func(f *fleet.Fleet)             // they are open
	// Resumed is called with the options of a resumed run as soon as they are completed
	// from the checkpoint. It may change Norms, Observe and Evaluated.
	Resumed func(o *TrainOptions)
	// Begin is called when the model is on the devices, before the first step. An error ends the run.
	Begin func() error
}
