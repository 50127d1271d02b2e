package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/objects/samples"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// openData opens the data that the paths name, or uses the caller's data. It sets samples
// apart for validation if the options or the checkpoint request it.
func (r *Run) openData(ctx context.Context) error {
	if err := r.openSources(ctx); err != nil {
		return err
	}
	return r.holdOut(ctx)
}

func (r *Run) openSources(ctx context.Context) error {
	if r.o.Source != nil {
		r.data, r.validation = r.o.Source, r.o.ValidationSource
		return nil
	}
	o, err := r.dataOptions()
	if err != nil {
		return err
	}
	if r.data, err = r.openSource(ctx, "data", r.paths.Data, o); err != nil {
		return err
	}
	if r.paths.Validation == "" {
		if r.o.ValSplit.Unsplit {
			return r.openOwnPart(ctx, o)
		}
		return nil
	}
	o.Split = r.validationSplit()
	r.validation, err = r.openSource(ctx, "val", r.paths.Validation, o)
	return err
}

func (r *Run) openSource(ctx context.Context, option, name string, o data.Options) (data.Source, error) {
	s, err := samples.OpenData(ctx, name, o)
	if err == nil {
		r.notify(DataOpened{option, s.Info()})
	}
	return s, err
}

// dataOptions returns how the data is read. In a resumed run the defaults are the options of the checkpoint.
func (r *Run) dataOptions() (o data.Options, err error) {
	o = data.Options{Split: data.Train, EXIF: r.exif() == data.ApplyEXIF, Masks: r.masks(),
		Columns: r.columns()}
	if o.SkipBad, err = data.ParseSkip(r.o.SkipBad); err != nil {
		return o, err
	}
	if r.o.SkipBad == "" && r.previous != nil {
		o.SkipBad = max(r.previous.Data.Skipped, r.previous.Validation.Skipped)
	}
	o.Array, err = r.arrays()
	return o, err
}

// arrays returns a converter from the arrays of .npy files to samples, for the model of the
// options or of the checkpoint.
func (r *Run) arrays() (fit.Converter, error) {
	if r.from != nil && r.o.Model == "" {
		m, err := serialize.Unwrap(r.from)
		if err != nil {
			return nil, err
		}
		return fit.Arrays(m, r.note), nil
	}
	return modelfile.StartArrays(r.o.Model, r.o.Start, r.note), nil
}

// exif returns whether picture files are turned by their EXIF orientation.
func (r *Run) exif() string {
	switch exif := r.o.Start.Preprocess.EXIF; {
	case exif != "":
		return exif
	case r.previous != nil:
		return r.previous.EXIF
	}
	return data.ApplyEXIF
}

// masks returns the meaning of the pixels of masks.
func (r *Run) masks() data.MaskOptions {
	if r.o.Masks == (data.MaskOptions{}) && r.previous != nil {
		return data.MaskOptions{Values: r.previous.MaskValues, Ignore: r.previous.MaskIgnore}
	}
	return r.o.Masks
}

// columns returns the names of columns of data of kind csv.
func (r *Run) columns() string {
	if r.o.Columns == "" && r.previous != nil {
		return r.previous.Columns
	}
	return r.o.Columns
}

// subset draws the samples of the data that the options request.
func (r *Run) subset() (err error) {
	if r.data, err = subsetOf(r.data, r.o.Samples, "samples"); err != nil || r.validation == nil {
		return err
	}
	r.validation, err = subsetOf(r.validation, r.o.ValidationSamples, "val-samples")
	return err
}

// subsetOf returns n samples of a source, or all if n is 0.
func subsetOf(src data.Source, n int, option string) (data.Source, error) {
	s, err := data.Subset(src, n, 0)
	if err != nil {
		return src, problem.Wrap(option, err)
	}
	return s, nil
}

// decoder returns the version of the decoder that makes the data's pixels, or "" without a
// decoder.
func (r *Run) decoder() string {
	version := r.data.Info().Decoder
	if version == "" && r.validation != nil {
		version = r.validation.Info().Decoder
	}
	return version
}
