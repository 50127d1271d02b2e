package bnctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// PredictOptions are the model, inputs and devices of predictions. Only Model, File and
// Inputs change a prediction.
type PredictOptions struct {
	Model  string            // any model file
	File   modelfile.Options // how the model is read, and how pictures become its input
	Inputs []string          // pictures, folders, archives, .npy files, or data for data.Open
	Top    int               // number of classes in a Prediction; 0: 5
	Batch  int               // inputs at once, over all devices; 0: 128
	Fleet  fleet.Options
}

// Prediction is the result of a model for one input.
type Prediction struct {
	Input string // its name
	// Classes are the classes with the highest probabilities, best first; nil if the model
	// does not predict classes.
	Classes []predict.Class
	// Outputs are the model's outputs, in its order, without the axis of rows.
	Outputs []tensor.Tensor
}

// Predict yields the predictions of a model for all inputs, in their order. After them it
// yields an error for each input that could not be read, and a *predict.NotFinite for each
// that should have a class but has outputs that are not finite. Any other error ends the
// iteration. The devices are closed when the loop ends.
func Predict(ctx context.Context, o PredictOptions) iter.Seq2[Prediction, error] {
	return func(yield func(Prediction, error) bool) {
		left := errors.New("left")
		bad, err := predictAll(ctx, o, func(p Prediction) error {
			if !yield(p, nil) {
				return left
			}
			return nil
		})
		if errors.Is(err, left) {
			return
		}
		if err != nil && ctx.Err() != nil { // devices have other words for it
			err = context.Cause(ctx)
		}
		for _, b := range bad {
			if !yield(Prediction{}, b) {
				return
			}
		}
		if err != nil {
			yield(Prediction{}, err)
		}
	}
}

// predictAll passes each prediction to each, and returns the errors of inputs that were
// left out.
func predictAll(ctx context.Context, o PredictOptions, each func(Prediction) error) (bad []error, err error) {
	if len(o.Inputs) == 0 {
		return nil, problem.New("inputs", "", "there is nothing to predict", "name pictures, folders or .npy files")
	}
	v, err := modelfile.OpenReadOnly(o.Model, o.File)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	src, err := predict.OpenInputs(ctx, v.Model, o.Inputs, true, nil)
	if err != nil {
		return nil, v.OrDamage(err)
	}
	defer src.Close()
	answers, err := predict.NewAnswers(src.Model, predict.AnswerOptions{Top: cmp.Or(o.Top, 5)})
	if err != nil {
		return nil, err
	}
	p, err := predict.Open(ctx, src.Model, predict.Options{Fleet: o.Fleet, Batch: cmp.Or(o.Batch, 128),
		Samples: src.Info().Len})
	if err != nil {
		return nil, v.OrDamage(err)
	}
	defer p.Close()
	var classless []error
	damaged, err := p.All(ctx, src.Source, predict.Reading{GoOn: true, Verify: v.Verify},
		func(i int, outputs []tensor.Tensor) error {
			said := Prediction{Input: src.Name(i)}
			for _, t := range outputs {
				said.Outputs = append(said.Outputs, t.Clone())
			}
			if !answers.Raw && !answers.Numbers() {
				var err error
				if said.Classes, err = answers.Best(outputs); err != nil {
					classless = append(classless, fmt.Errorf("%s: %w", said.Input, err))
					return nil
				}
			}
			return each(said)
		})
	return slices.Concat(src.Unopened, damaged, classless), err
}
