package models_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Impossible normalisations are refused with the probable numbers in the sentence: 123.675
// = 0.485 * 255, and so on.
func TestImageThatCannotBe(t *testing.T) {
	unit, raw := models.Image{Scale: 1. / 255}, models.Image{Scale: 1}
	with := func(i models.Image, mean, std []float64) models.Image {
		i.Mean, i.Std = mean, std
		return i
	}
	pixels, deviations := []float64{123.675, 116.28, 103.53}, []float64{58.395, 57.12, 57.375}
	for _, c := range []struct {
		image models.Image
		want  string // part of the error; "" if there is no error
	}{
		{with(unit, models.ImageNetMean, models.ImageNetStd), ""},
		{with(unit, []float64{1, -1, 0}, []float64{4, 1, 1e-3}), ""},
		{with(raw, pixels, deviations), ""},
		{with(raw, []float64{103.939, 116.779, 123.68}, nil), ""},
		{with(unit, pixels, deviations), "mean 123.675,116.28,103.53: it is in units of x/255, where pixels are " +
			"0 to 1: a mean above 1 is one of pixels from 0 to 255; write mean 0.485,0.456,0.406 std " +
			"0.229,0.224,0.225, or preprocess raw mean 123.675,116.28,103.53 std 58.395,57.12,57.375"},
		// The default deviation, in units of x/255, is converted for the preset raw.
		{with(unit, pixels, models.ImageNetStd), "write mean 0.485,0.456,0.406 std 0.229,0.224,0.225, or " +
			"preprocess raw mean 123.675,116.28,103.53 std 58.395,57.12,57.375"},
		{with(unit, pixels, []float64{1, 1, 1}), "write mean 0.485,0.456,0.406 std " +
			"0.00392157,0.00392157,0.00392157, or preprocess raw mean 123.675,116.28,103.53 std 1,1,1"},
		{with(unit, nil, deviations), "std 58.395,57.12,57.375: it is in units of x/255, where pixels are 0 to " +
			"1: a deviation above 4 is one of pixels from 0 to 255; write std 0.229,0.224,0.225, or preprocess " +
			"raw std 58.395,57.12,57.375"},
		{with(unit, []float64{0.5}, nil), "mean 0.5: 1 number for 3 channels; give one for each channel: mean " +
			"0.5,0.5,0.5"},
		{with(raw, nil, []float64{1, 2}), "std 1,2: 2 numbers for 3 channels; give one for each channel"},
		{with(raw, nil, []float64{0, 0, 0}), "std 0,0,0: values are divided by it: 0 is not above 0"},
		{with(raw, nil, []float64{1, -2, 1}), "std 1,-2,1: values are divided by it: -2 is not above 0"},
		{with(raw, nil, []float64{1, math.NaN(), 1}), "std 1,NaN,1: NaN is not finite"},
		{with(raw, []float64{math.Inf(-1), 0, 0}, nil), "mean -Inf,0,0: -Inf is not finite"},
	} {
		err := c.image.Check(3)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: error %v, want %q", c.image, err, c.want)
		}
		var p *problem.Error
		if err != nil && (!errors.As(err, &p) || p.Field != "mean" && p.Field != "std") {
			t.Errorf("%v: %v is no problem of an option", c.image, err)
		}
	}
	// All functions of the library that make an image operation check it in the same way.
	if _, err := models.Build("resnet20", models.Options{Mean: pixels, Std: deviations}); err == nil {
		t.Error("Build took a mean of pixels")
	}
	m, err := models.Build("resnet20", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := models.WithImage(m, with(unit, pixels, deviations)); err == nil {
		t.Error("WithImage took a mean of pixels")
	}
}
