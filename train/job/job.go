package job

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// Options say what is trained, with which data and devices, and where the
// results are written.
type Options struct {
	// Model is a name of the zoo, a graph in text form, or any model file, whose
	// weights training starts from; Start has more options about it; its Seed is
	// ignored, the recipe's counts. A resumed job takes the model of its checkpoint,
	// and refuses another Model unless it is "".
	Model string
	Start modelfile.StartOptions
	// Paths names the data, as data.Open takes it, and the file of the template.
	// Validation may be "". In a resumed job "" stands for the checkpoint's.
	Paths train.Paths
	// Checkpoint is the file to write checkpoints to; "": none, unless the caller sets
	// Job.Checkpoint.
	Checkpoint string
	// Task is "segment" for labels that are masks, "classify" for others: other
	// data is refused. "" accepts both.
	Task string
	// Source and ValidationSource are data of the caller's own, used instead of the
	// data that Paths names. The caller closes them. ValidationSource may be nil.
	Source, ValidationSource data.Source
	Resume                   *serialize.Checkpoint // checkpoint to continue from; nil: a new run
	// Peers connects the ranks of the run; nil if there is one. All ranks have the
	// same options. Only rank 0 reads the model's files, and writes.
	Peers     *fabric.Peers
	Overwrite bool // replace the checkpoint of another recipe
	// Recipe is called to change r, which is train.DefaultRecipe, or the recipe
	// of the checkpoint. It may be nil.
	Recipe        func(r *train.Recipe) error
	EXIF          string           // data.ApplyEXIF or data.IgnoreEXIF; "": as before, in a new run applied
	Interpolation string           // of a resumed job; "": as before
	Masks         data.MaskOptions // of a resumed job; zero: as before
	SkipBad       *int             // data.Options.SkipBad; nil: as before, in a new run none

	Fleet      fleet.Options // the devices; its Precision and Most are ignored: the recipe's count
	AnyKernels bool          // permits another kernel class in a resumed job
	// Placement is the number of replicas for each device, "4,2,2", or "speed";
	// "" is the default of parallel.Config.
	Placement string
	Hear      Listener
}

// Listener has functions that are called as soon as something is known: the
// data, the model, a message for the user, an option without effect. Each may
// be nil.
type Listener struct {
	Source func(option string, i data.Info) // "data" or "val"
	Model  func(m *modelfile.Started)
	Note   func(format string, args ...any)
	Idle   func(err error) // a *problem.Error: an option of a new run that has no effect
}

// Job is a run that is being prepared.
type Job struct {
	o                Options
	Paths            train.Paths // of Options, or of the checkpoint where Options has none
	Checkpoint       string      // file to write checkpoints to; "": none
	Data, Validation data.Source // Validation may be nil; Close closes them
	Model            *models.Model
	Recipe           *train.Recipe
	Fleet            *fleet.Fleet // once its devices are open
	// Config says how the recipe is run. The caller may set Workers, DeviceTimeout,
	// CheckpointEvery, LogEvery, GoOn, Besides and Events before Start; Start sets the
	// other fields.
	Config  train.Config
	was     *train.Recipe
	release func() // of files
}

// Open opens the data. The error for an invalid option is a *problem.Error.
func Open(ctx context.Context, o Options) (*Job, error) {
	j := &Job{o: o, Paths: o.Paths, Checkpoint: o.Checkpoint, release: func() {}}
	if err := j.resume(); err != nil {
		return nil, err
	}
	if j.Paths.Data == "" && o.Source == nil {
		return nil, problem.New("data", "", "there is nothing to train on", "")
	}
	if err := endings(j.Paths.Output, j.Checkpoint); err != nil {
		return nil, err
	}
	err := j.open(ctx)
	if err == nil {
		err = o.checkTask(j.Data.Info())
	}
	if err == nil {
		err = j.unseen(ctx)
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// resume takes from the checkpoint what the options leave open.
func (j *Job) resume() (err error) {
	if j.o.Resume == nil {
		return nil
	}
	if j.was, err = train.ParseRecipe(j.o.Resume.Recipe); err != nil {
		return err
	}
	was, err := train.PathsOf(j.o.Resume)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		now *string
		was string
	}{{&j.Paths.Data, was.Data}, {&j.Paths.Validation, was.Validation}, {&j.Paths.Output, was.Output}} {
		if *p.now == "" {
			*p.now = p.was
		}
	}
	return nil
}

func (j *Job) open(ctx context.Context) (err error) {
	if j.o.Source != nil {
		j.Data, j.Validation = j.o.Source, j.o.ValidationSource
		return nil
	}
	o := data.Options{Split: data.Train, EXIF: j.exif() == data.ApplyEXIF, Masks: j.masks()}
	switch {
	case j.o.SkipBad != nil:
		o.SkipBad = *j.o.SkipBad
	case j.was != nil:
		o.SkipBad = max(j.was.Data.Skipped, j.was.Validation.Skipped)
	}
	if o.Array, err = j.arrays(); err != nil {
		return err
	}
	if j.Data, err = data.Open(ctx, j.Paths.Data, o); err != nil {
		return err
	}
	j.hearSource("data", j.Data)
	if j.Paths.Validation == "" {
		return nil
	}
	o.Split = j.evaluatedOn()
	if j.Validation, err = data.Open(ctx, j.Paths.Validation, o); err != nil {
		return err
	}
	j.hearSource("val", j.Validation)
	return nil
}

func (j *Job) hearSource(option string, s data.Source) {
	if j.o.Hear.Source != nil {
		j.o.Hear.Source(option, s.Info())
	}
}

// arrays returns what makes samples of the arrays of .npy files, for the model
// of the options or of the checkpoint.
func (j *Job) arrays() (func(name string, x tensor.Tensor) (tensor.Tensor, error), error) {
	if j.o.Resume != nil && j.o.Model == "" {
		m, err := serialize.Unwrap(j.o.Resume)
		return fit.Arrays(m, j.o.Hear.Note), err
	}
	return modelfile.StartArrays(j.o.Model, j.o.Start, j.o.Hear.Note), nil
}

// exif returns whether picture files are turned as they say.
func (j *Job) exif() string {
	switch {
	case j.o.EXIF != "":
		return j.o.EXIF
	case j.was != nil:
		return j.was.EXIF
	}
	return data.ApplyEXIF
}

// masks returns what the pixels of masks mean.
func (j *Job) masks() data.MaskOptions {
	if j.o.Masks == (data.MaskOptions{}) && j.was != nil {
		return data.MaskOptions{Values: j.was.MaskValues, Ignore: j.was.MaskIgnore}
	}
	return j.o.Masks
}

// Close closes data and devices, and unlocks the files. Close the session
// before.
func (j *Job) Close() {
	for _, s := range []data.Source{j.Data, j.Validation} {
		if s != nil && j.o.Source == nil {
			_ = s.Close() // it was only read
		}
	}
	if j.Fleet != nil {
		_ = j.Fleet.Close()
	}
	j.release()
}

// recipe returns the recipe of the options, before model and data are known.
func (j *Job) recipe() (*train.Recipe, error) {
	r := train.DefaultRecipe(j.o.Model)
	if j.was != nil {
		was := *j.was
		r = &was
	}
	if j.o.Recipe == nil {
		return r, nil
	}
	return r, j.o.Recipe(r)
}

// Prepare sets Model and Recipe, except for the kernel class. It reads all data,
// for the fingerprints.
func (j *Job) Prepare(ctx context.Context) error {
	r, err := j.recipe()
	if err != nil {
		return err
	}
	j.Recipe = r
	if masks := j.masks(); j.o.Source == nil {
		r.MaskValues, r.MaskIgnore = masks.Values, masks.Ignore
	}
	if j.was != nil {
		err = j.compared(ctx, r)
	} else {
		err = j.begin(ctx, r)
	}
	if err != nil {
		return err
	}
	if err := r.SetData(ctx, j.Data, j.Validation); err != nil || j.was == nil {
		return err
	}
	if was := j.was.Validation; was.Fingerprint == r.Validation.Fingerprint {
		r.Validation.Split = was.Split // the same samples: an older release may have called val test
	}
	return nil
}

// begin makes the model of a new run.
func (j *Job) begin(ctx context.Context, r *train.Recipe) error {
	m, err := j.sharedModel(ctx, r.Seed)
	if err != nil {
		return err
	}
	j.Model = m.Model
	if err := train.Fits(m.Model, j.Data, j.Validation); err != nil {
		return err
	}
	if err := r.Moves(m.Model); err != nil {
		return err
	}
	if j.o.Hear.Model != nil {
		j.o.Hear.Model(m)
	}
	if r.SetModel(m.Model); m.Weights != "" {
		r.Init = m.Weights
	}
	if r.EXIF = j.exif(); j.decoder() == "" && j.o.EXIF == "" {
		r.EXIF = "" // it is about no file of this run
	}
	return nil
}

// decoder returns the version of the decoder that makes the data's pixels; ""
// if none does.
func (j *Job) decoder() string {
	version := j.Data.Info().Decoder
	if version == "" && j.Validation != nil {
		version = j.Validation.Info().Decoder
	}
	return version
}

// compare writes into the recipe of a resumed run which model the options speak
// of, to be compared with that of the checkpoint.
func (j *Job) compare(r *train.Recipe) (err error) {
	if err := j.sameSize(); err != nil {
		return err
	}
	if path := j.o.Start.Init; path != "" {
		if r.Init, err = modelfile.Digest(path); err != nil {
			return err
		}
	}
	if j.o.Model != "" {
		m, err := j.start(r.Seed)
		if err != nil {
			return err
		}
		scaled := r.Interpolation
		r.SetModel(m.Model)
		r.Interpolation = scaled // an option of its own
		if m.Weights != "" {
			r.Init = m.Weights
		}
	}
	if j.o.Interpolation != "" {
		r.Interpolation = j.o.Interpolation
	}
	if j.o.EXIF != "" {
		r.EXIF = j.o.EXIF
	}
	return nil
}
