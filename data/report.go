package data

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// Report describes a source, in the form of its JSON.
type Report struct {
	Kind        string         `json:"kind"`
	Split       string         `json:"split"`
	Samples     int            `json:"samples"`
	Sample      string         `json:"sample"` // type and shape, or "RGB pictures"
	Classes     []string       `json:"classes"`
	PerClass    map[string]int `json:"per_class"`
	Unlabelled  int            `json:"ignored"`               // number of labels that are -1
	Masks       bool           `json:"masks,omitempty"`       // labels are masks
	MultiLabel  bool           `json:"multi_label,omitempty"` // labels do not exclude each other
	Targets     []Target       `json:"targets,omitempty"`     // numbers instead of classes
	Sizes       string         `json:"sizes,omitempty"`       // as text: "from 75x56 to 500x375"
	Mean        []float64      `json:"mean"`
	Std         []float64      `json:"std"`
	ImageMean   []float64      `json:"image_mean,omitempty"` // mean with the same weight for each picture
	ImageStd    []float64      `json:"image_std,omitempty"`
	Fingerprint string         `json:"fingerprint"`
	Kinds       map[string]int `json:"kinds,omitempty"`         // number of sample files, by extension
	Others      map[string]int `json:"files_ignored,omitempty"` // number of other files, by extension
	Empty       []string       `json:"empty_folders,omitempty"`
	Skipped     int            `json:"skipped,omitempty"` // number of bad files that were left out
	Copies      *Copies        `json:"copies,omitempty"`  // equal pictures
}

// Survey reads all samples of a source and returns a report on it. If OpenAll opened the source,
// Report.Copies also lists the pictures that are in other parts of the data too.
func Survey(ctx context.Context, src Source) (*Report, error) {
	var others []Source
	if p, ok := src.(*withParts); ok {
		src, others = p.Source, p.others
	}
	info := src.Info()
	copies, err := FindCopies(ctx, src, others...)
	if err != nil {
		return nil, err
	}
	s, err := Describe(ctx, src)
	if err != nil {
		return nil, err
	}
	sum, err := src.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Kind: info.Kind, Split: string(info.Split), Samples: info.Len, Sample: "RGB pictures",
		Classes: info.Classes, PerClass: map[string]int{}, Unlabelled: s.Ignored, Masks: info.Masks,
		MultiLabel: info.MultiLabel, Targets: s.Targets,
		Sizes: s.Sizes(),
		Mean:  s.Mean, Std: s.Std, ImageMean: s.ImageMean, ImageStd: s.ImageStd, Fingerprint: sum,
		Kinds: info.Kinds, Others: info.Ignored, Empty: info.Empty, Skipped: len(info.Skipped),
		Copies: copies}
	if info.Shape != nil {
		r.Sample = tensor.Describe(info.DType, info.Shape)
	}
	for i, n := range s.PerClass {
		r.PerClass[info.Classes[i]] = n
	}
	return r, nil
}

// MeanStd has the mean and standard deviation of pictures for each channel, in units of x/255, which models
// use. They are computed in two ways: with the same weight for every pixel, and with the same weight for
// every picture.
type MeanStd struct {
	PixelMean []float64 `json:"pixel_mean"`
	PixelStd  []float64 `json:"pixel_std"`
	ImageMean []float64 `json:"image_mean"`
	ImageStd  []float64 `json:"image_std"`
}

// DescribePictures reads all pictures of a source. It is an error if the samples are not
// pictures.
func DescribePictures(ctx context.Context, src Source) (*MeanStd, error) {
	if i := src.Info(); !i.Pictures() {
		return nil, fmt.Errorf("the samples of %s are no pictures", i.Kind)
	}
	s, err := Describe(ctx, src)
	if err != nil {
		return nil, err
	}
	m := &MeanStd{s.Mean, s.Std, s.ImageMean, s.ImageStd}
	for _, values := range [][]float64{m.PixelMean, m.PixelStd, m.ImageMean, m.ImageStd} {
		for i := range values {
			values[i] /= 255
		}
	}
	return m, nil
}
