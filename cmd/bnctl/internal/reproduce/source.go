package reproduce

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// trainOptions returns the options of the second training: model, data and devices.
func (a *repetition) trainOptions() (o bnctl.TrainOptions, err error) {
	r := a.original.recipe
	o = bnctl.TrainOptions{Fleet: a.fleet, LogEvery: 1, Observer: a,
		Masks: data.MaskOptions{Values: r.MaskValues, Ignore: r.MaskIgnore}, Columns: r.Columns}
	if n := max(r.Data.Skipped, r.Validation.Skipped); n > 0 {
		o.SkipBad = fmt.Sprint(n)
	}
	if o.Data, err = sourceOf("data", a.data, a.original.paths.Data, r.Data); err != nil {
		return o, err
	}
	if o.ValSplit = r.ValSplit.Holdout(); r.ValSplit == nil && r.Validation.Samples > 0 {
		if o.Validation, err = sourceOf("val", a.validation, a.original.paths.Validation,
			r.Validation); err != nil {
			return o, err
		}
	}
	if a.checkpoint != "" {
		o.Resume = a.checkpoint
		// The checkpoint names the files of the first training. These must not be written.
		o.Output, o.Checkpoint = filepath.Join(a.folder, "again.bnm"), filepath.Join(a.folder, "again.bnc")
		return o, a.checkFrom()
	}
	return o, a.start(&o)
}

// sourceOf returns the source of the data: the value of the option or, without it, the source in the
// checkpoint of the first training. If the data is drawn on the fly, it returns the kind of the data.
func sourceOf(option, original, recorded string, d recipe.Data) (string, error) {
	if original = cmp.Or(original, recorded); original != "" {
		return original, nil
	}
	if d.Kind == "glyphs" || d.Kind == "shapes" {
		return fmt.Sprintf("%s:%d", d.Kind, d.Samples), nil
	}
	return "", problem.New(option, "", "the template does not know where its data is: "+d.InWords(),
		fmt.Sprintf("give it with {%s} SRC", option))
}

// start sets the model with which the second training begins.
func (a *repetition) start(o *bnctl.TrainOptions) (err error) {
	r, m := a.original.recipe, a.original.template
	o.Start.Options, o.Start.Classes = a.file, a.classes
	o.Start.Seed, o.Start.TrainTensors = r.Seed, r.TrainTensors
	o.Start.Preprocess.EXIF, o.Start.Preprocess.Interpolation = r.EXIF, r.Interpolation
	if r.Init != recipe.Drawn && a.init == "" && a.network == "" {
		return problem.New("init", "", "the training of "+a.model+" began with weights of a file, sha256 "+r.Init,
			"give that file with {init}")
	}
	if a.network != "" {
		o.Model, o.Start.Init = a.network, a.init
		return nil
	}
	if _, err := models.Lookup(r.Model); err == nil {
		o.Model, o.Start.Init = r.Model, a.init
		if shape := m.Input().Shape; len(shape) == 3 && m.Input().DType.Size() == 1 &&
			o.Start.Size == (models.Size{}) {
			o.Start.Size = models.Size{Height: shape[0], Width: shape[1]}
		}
		return nil
	}
	if o.Model = a.init; o.Model == "" {
		o.Model, err = a.graphFile()
	}
	return err
}
