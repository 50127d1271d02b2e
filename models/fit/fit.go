package fit

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Model returns the form of m for the samples of this data. Arrays of floats bypass an
// image operation; their channels may be on the last axis. Samples that cannot be the input
// of m are an error. Pictures for a model without preprocessing are a *problem.Error, since
// preprocessing is never guessed.
func Model(m *models.Model, info data.Info) (*models.Model, error) {
	if err := m.CheckOneInput("training, evaluation and pictures need a model with one input"); err != nil {
		return nil, err
	}
	if info.Pictures() {
		return m, checkPictures(m)
	}
	m, err := models.WithArrays(m)
	if err != nil {
		return nil, err
	}
	in := m.Input()
	if info.DType == in.DType && channelsLast(info.Shape, in.Shape) {
		return models.WithChannelsLast(m)
	}
	if info.DType != in.DType || !slices.Equal(info.Shape, in.Shape) {
		return nil, fmt.Errorf("the model takes arrays %s, a sample of %s is %s",
			tensor.Describe(in.DType, in.Shape), info.Kind, tensor.Describe(info.DType, info.Shape))
	}
	return m, nil
}

// channelsLast reports whether a shape [H,W,C] is want, [C,H,W], in another order. It returns false for
// a shape that equals want.
func channelsLast(have, want []int) bool {
	return len(have) == 3 && len(want) == 3 && !slices.Equal(have, want) &&
		slices.Equal(have, []int{want[1], want[2], want[0]})
}

// checkPictures returns an error if m cannot have pictures as input.
func checkPictures(m *models.Model) error {
	in := m.Input()
	switch {
	case !m.Preprocess.Known:
		return problem.New("preprocess", "", "the file does not say how a picture becomes the model's input",
			"add {preprocess} imagenet, unit, raw or caffe, or {mean} and {std}, or give arrays as .npy")
	case in.DType != tensor.U8 || len(in.Shape) != 3:
		return problem.Advise("give arrays as .npy, or say by {preprocess} how pictures become such arrays",
			"the model takes arrays %s, the samples are pictures", tensor.Describe(in.DType, in.Shape))
	}
	return nil
}

// LacksPreprocessing reports whether the input of m is arrays of the shape of pictures and
// the preprocessing of pictures is unknown. Model refuses pictures then.
func LacksPreprocessing(m *models.Model) bool {
	if m.Preprocess.Known {
		return false
	}
	_, err := models.WithImage(m, models.Image{Scale: 1})
	return err == nil // other inputs are not pictures
}
