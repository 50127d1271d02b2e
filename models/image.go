package models

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Image holds the attributes of an image operation, which computes (x*Scale - Mean) /
// Std per channel, in the order B, G, R with BGR. With a Scale of 1/255, Mean and
// Std are in units of x/255; with 1, in units of pixels.
type Image struct {
	Scale     float64
	Mean, Std []float64 // values for each channel of the result; nil: a mean of 0, a deviation of 1
	BGR       bool
}

// ImageOf returns the image operation on the input of m, and whether there is one.
func ImageOf(m *Model) (i Image, ok bool) {
	n := m.imageNode()
	if n == nil {
		return i, false
	}
	return Image{Scale: n.Float("scale"), Mean: n.Floats("mean"), Std: n.Floats("std"), BGR: n.Bool("bgr")}, true
}

// The largest pixel, and the largest mean and deviation that are accepted if the largest
// pixel is 1. A larger mean or deviation is in other units.
const (
	largestPixel = 255
	maxMean      = 1
	maxStd       = 4
)

// Check returns an error if pixels with that many channels cannot be normalised with i:
// numbers for other channels, a deviation that cannot divide, a mean outside of the range
// of pixels. The error is a *problem.Error of mean or std.
func (i Image) Check(channels int) error {
	for _, l := range []struct {
		option string
		v      []float64
	}{{"mean", i.Mean}, {"std", i.Std}} {
		if len(l.v) != 0 && len(l.v) != channels {
			return problem.New(l.option, numbers(l.v), problem.Plural(len(l.v), "number")+" for "+
				problem.Plural(channels, "channel"), "give one for each channel"+repeated(l.option, l.v, channels))
		}
		if k := slices.IndexFunc(l.v, func(v float64) bool { return !tensor.IsFinite(v) }); k >= 0 {
			return problem.New(l.option, numbers(l.v), fmt.Sprintf("%g is not finite", l.v[k]), "")
		}
	}
	if k := slices.IndexFunc(i.Std, func(v float64) bool { return v <= 0 }); k >= 0 {
		return problem.New("std", numbers(i.Std), fmt.Sprintf("values are divided by it: %g is not above 0",
			i.Std[k]), "leave it out to divide by nothing")
	}
	return i.Units()
}

// repeated returns the end of the advice if there is one number, but each of several
// channels needs one.
func repeated(option string, v []float64, channels int) string {
	if len(v) != 1 {
		return ""
	}
	return fmt.Sprintf(": {%s} %s", option, numbers(slices.Repeat(v, channels)))
}

// Units returns an error for a mean and a deviation of pixels from 0 to 255 if pixels are
// scaled to 0 to 1: the result would be far from the intended one.
func (i Image) Units() error {
	if math.Abs(float64(i.Scale*largestPixel)-1) > 1e-6 {
		return nil
	}
	beyond := func(most float64) func(float64) bool {
		return func(v float64) bool { return math.Abs(v) > most }
	}
	mean, std := slices.ContainsFunc(i.Mean, beyond(maxMean)), slices.ContainsFunc(i.Std, beyond(maxStd))
	option, v, text := "mean", i.Mean, "a mean above 1"
	switch {
	case !mean && !std:
		return nil
	case !mean:
		option, v, text = "std", i.Std, "a deviation above 4"
	}
	units, pixels := i, i // two copies of i, each with one value changed
	if mean {
		units.Mean = times(1./largestPixel, i.Mean)
	} else {
		pixels.Mean = times(largestPixel, i.Mean)
	}
	if std || !slices.ContainsFunc(i.Std, func(v float64) bool { return v < 1 }) {
		units.Std = times(1./largestPixel, i.Std)
	} else {
		pixels.Std = times(largestPixel, i.Std)
	}
	return problem.New(option, numbers(v), "it is in units of x/255, where pixels are 0 to 1: "+text+
		" is one of pixels from 0 to 255", "write"+units.options()+", or {preprocess} raw"+pixels.options())
}

// Takes returns the preset of pictures that yields the x that i expects: "raw" if the mean and the deviation
// of x are typical for pixels from 0 to 255, "unit" if they are typical for pixels from 0 to 1.
func (i Image) Takes() string {
	of := Image{Scale: 1. / largestPixel, Mean: times(1/i.Scale, i.Mean), Std: times(1/i.Scale, i.Std)}
	if len(of.Std) == 0 {
		of.Std = []float64{1 / i.Scale}
	}
	if of.Units() != nil {
		return "raw"
	}
	return "unit"
}

// InWords describes the computation of i: "(x/255 - 0.485,0.456,0.406) / 0.229,0.224,0.225".
func (i Image) InWords() string {
	s := "x"
	if by := math.Round(1 / i.Scale); i.Scale != 1 && math.Abs(float64(by*i.Scale)-1) < 1e-6 {
		s += "/" + numbers([]float64{by})
	} else if i.Scale != 1 {
		s += "*" + numbers([]float64{i.Scale})
	}
	if len(i.Mean) > 0 {
		s += " - " + numbers(i.Mean)
	}
	if len(i.Std) > 0 && len(i.Mean) > 0 {
		s = "(" + s + ")"
	}
	if len(i.Std) > 0 {
		s += " / " + numbers(i.Std)
	}
	return s
}

// times returns the numbers in v, each multiplied by factor.
func times(factor float64, v []float64) []float64 {
	out := make([]float64, len(v))
	for k := range v {
		out[k] = factor * v[k]
	}
	return out
}

// options returns mean and deviation in the form of their options.
func (i Image) options() (s string) {
	if len(i.Mean) > 0 {
		s += " {mean} " + numbers(i.Mean)
	}
	if len(i.Std) > 0 {
		s += " {std} " + numbers(i.Std)
	}
	return s
}

// numbers formats numbers for an option, to six digits.
func numbers(v []float64) string {
	texts := make([]string, len(v))
	for k := range v {
		texts[k] = strconv.FormatFloat(v[k], 'g', 6, 64)
	}
	return strings.Join(texts, ",")
}

// imageNode returns the image operation on the input of m, or nil.
func (m *Model) imageNode() *graph.Node {
	f := m.Graph.Main
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Op == graph.Image && n.In[0] == f.Inputs[0] {
			return n
		}
	}
	return nil
}
