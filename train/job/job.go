package job

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fabric"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// Options say what is trained, on what, and where the results go.
type Options struct {
	// Model is a name of the zoo, a graph in text form, or any model file, whose
	// weights training starts from; Start says more of it, but for its Seed, which is
	// the recipe's. A resumed job has the model of its checkpoint: Model is compared
	// with that, unless it is "".
	Model string
	Start modelfile.StartOptions
	// Paths names the data as data.Open takes it, Validation "" for none, and where
	// the template goes. "" is as before in a resumed job.
	Paths train.Paths
	// Task is "segment" for labels that are masks, "classify" for others: data that
	// says something else is refused. "": as the data says.
	Task string
	// Source and ValidationSource are data of the caller's own, which it closes, in
	// place of what Paths names; ValidationSource nil is no validation.
	Source, ValidationSource data.Source
	Resume                   *serialize.Checkpoint // to go on from; nil: a new run
	// Peers is the ranks of the run, nil: this process is alone. All of them have the
	// same options. Rank 0 alone reads the model's files, and writes.
	Peers     *fabric.Peers
	Overwrite bool // the checkpoint of another recipe
	// Recipe writes into r what the caller decides: r is train.DefaultRecipe, or
	// that of the checkpoint. nil: nothing.
	Recipe        func(r *train.Recipe) error
	EXIF          string           // data.ApplyEXIF or data.IgnoreEXIF; "": as before, in a new run applied
	Interpolation string           // of a resumed job; "": as before
	Masks         data.MaskOptions // of a resumed job; zero: as before
	SkipBad       *int             // data.Options.SkipBad; nil: as before, in a new run none

	Fleet      fleet.Options // the devices; Precision and Most are the recipe's
	AnyKernels bool          // a resumed job may go on with another kernel class
	// Placement is how many of the replicas each device gets, "4,2,2", or
	// "speed"; "": see parallel.Config.
	Placement string
	Hear      Listener
}

// Listener hears what is settled, as soon as it is. What is nil is not called.
type Listener struct {
	Source func(option string, i data.Info) // "data" or "val"
	Model  func(m *modelfile.Started)
	Note   func(format string, args ...any)
	Idle   func(err error) // a *problem.Error: options of a new run that change nothing
}

// Job is a run that is being prepared.
type Job struct {
	o                Options
	Paths            train.Paths // of Options, with those of the checkpoint
	Checkpoint       string      // file to write checkpoints to; "": none
	Data, Validation data.Source // Validation may be nil; Close closes them
	Model            *models.Model
	Recipe           *train.Recipe
	Fleet            *fleet.Fleet // once its devices are open
	// Config says how the run goes: Workers, DeviceTimeout, CheckpointEvery, LogEvery,
	// GoOn, Besides and Events count. It may be set until Start.
	Config  train.Config
	was     *train.Recipe
	release func() // of files
}

// Open opens the data. What o asks for and cannot be is a *problem.Error.
func Open(ctx context.Context, o Options) (*Job, error) {
	j := &Job{o: o, Paths: o.Paths, release: func() {}}
	if err := j.resume(); err != nil {
		return nil, err
	}
	if j.Paths.Data == "" && o.Source == nil {
		return nil, problem.New("data", "", "there is nothing to train on", "")
	}
	err := j.open(ctx)
	if err == nil {
		err = o.checkTask(j.Data.Info())
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
	o.Split = data.Test
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
		return modelfile.Arrays(m, j.o.Hear.Note), err
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

// Close gives back data, devices and files. A session is closed before.
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

// Prepare settles model and recipe, but for the kernel class. It reads all data,
// to know it again.
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
	return r.SetData(ctx, j.Data, j.Validation)
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

func (j *Job) start(seed uint64) (*modelfile.Started, error) {
	o := j.o.Start
	o.Seed, o.Auxiliary = seed, j.Recipe.AuxWeight > 0
	return modelfile.Start(j.o.Model, j.Data.Info(), o)
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
