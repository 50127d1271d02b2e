package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// suited returns the form of m that takes such samples: arrays of floats go
// past an image operation, as they are; they may have their channels last.
// Samples that cannot be the input of m are an error.
func suited(m *models.Model, info data.Info) (*models.Model, error) {
	if info.Pictures() {
		return m, takesPictures(m)
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

// channelsLast reports whether a shape [H,W,C] is want, [C,H,W], in another
// order. What fits as it is, is not.
func channelsLast(have, want []int) bool {
	return len(have) == 3 && len(want) == 3 && !slices.Equal(have, want) &&
		slices.Equal(have, []int{want[1], want[2], want[0]})
}

// takesPictures refuses pictures for a model of which nobody has said how
// they become its input. It is never guessed.
func takesPictures(m *models.Model) error {
	in := m.Input()
	switch {
	case !m.Preprocess.Known:
		return misuse("the file does not say how a picture becomes the model's input; " +
			"add --preprocess imagenet, unit, raw or caffe, or --mean and --std, or give arrays as .npy")
	case in.DType != tensor.U8 || len(in.Shape) != 3:
		return fmt.Errorf("the model takes arrays %s, the samples are pictures; give arrays as .npy, "+
			"or say with --preprocess how pictures become such arrays", tensor.Describe(in.DType, in.Shape))
	}
	return nil
}

// noteOfPictures says of a file that holds m that pictures will be refused for
// it, though its input has the shape of pictures.
func noteOfPictures(o *output, path string, m *models.Model, command string) {
	if m.Preprocess.Known {
		return
	}
	if _, err := models.WithImage(m, models.Image{Scale: 1}); err != nil {
		return // no pictures anyway
	}
	in := m.Input()
	o.note("%s takes arrays %s, no pictures: nothing says how they become such arrays. To change that, "+
		"%s again with --preprocess imagenet, unit, raw or caffe, or --mean and --std", path,
		tensor.Describe(in.DType, in.Shape), command)
}

// sameLabels refuses data whose classes are not those that m was trained on.
// Classes that have numbers for names need only be as many, or fewer.
func sameLabels(m *models.Model, info data.Info) error {
	if len(m.Labels) == 0 || numbered(info.Classes) && len(info.Classes) <= len(m.Labels) ||
		strings.Join(m.Labels, "\x00") == strings.Join(info.Classes, "\x00") {
		return nil
	}
	return fmt.Errorf("the classes differ: the model has %s, %s has %s; "+
		"evaluate on data with the model's classes", classList(m.Labels), info.Kind, classList(info.Classes))
}

// numbered reports whether the names of classes are 0, 1, 2 ...
func numbered(classes []string) bool {
	for i, name := range classes {
		if name != fmt.Sprint(i) {
			return false
		}
	}
	return true
}
