package modelfile

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// caffeMean is the mean that models of Caffe's zoo subtract, in the order B, G, R.
var caffeMean = []float64{103.939, 116.779, 123.68}

// presets has the image operation for each value of Preprocess.Name.
var presets = map[string]models.Image{
	"imagenet": {Scale: 1. / 255, Mean: models.ImageNetMean, Std: models.ImageNetStd},
	"unit":     {Scale: 1. / 255},
	"raw":      {Scale: 1},
	"caffe":    {Scale: 1, Mean: caffeMean, BGR: true},
}

// presetNames returns the values of Preprocess.Name: imagenet is x/255 minus ImageNet's
// mean, divided by its deviation; unit is x/255; raw is x; caffe is x minus Caffe's mean in
// the order B, G, R; none means unknown.
func presetNames() []string { return []string{"imagenet", "unit", "raw", "caffe", "none"} }

// apply returns m with the preprocessing of p or, if p has none, with the preprocessing of
// m. If neither is known, apply removes the image operation, and m accepts arrays.
func (p *Preprocess) apply(m *models.Model) (*models.Model, error) {
	m, err := p.pictures(m)
	if err != nil {
		return nil, err
	}
	given := p.Mean != nil || p.Std != nil
	name, resize := p.Name, 0
	if name == "" {
		switch {
		case given:
		case m.Preprocess.Known:
			return p.resized(m), nil
		default:
			return withoutImage(m)
		}
		name, resize = "unit", m.Preprocess.Resize
	}
	if name == "none" {
		if given {
			return nil, problem.New("preprocess", "", "none contradicts {mean} and {std}", "leave it out")
		}
		return withoutImage(m)
	}
	i, ok := presets[name]
	if !ok {
		return nil, &problem.Error{Field: "preprocess", Value: strconv.Quote(name), Known: presetNames(),
			Text: "want one of " + strings.Join(presetNames(), ", ")}
	}
	if p.Mean != nil {
		i.Mean = p.Mean
	}
	if p.Std != nil {
		i.Std = p.Std
	}
	out, err := models.WithImage(m, i)
	var bad *problem.Error
	if !given && p.Name != "" && errors.As(err, &bad) { // the user has not set a mean
		return nil, problem.New("preprocess", name, "its {"+bad.Field+"} has "+bad.Text,
			"say {preprocess} unit or raw, or {mean} and {std} for each channel").Because(err)
	}
	if err != nil {
		return nil, err
	}
	if name == "imagenet" {
		resize = shorterSide(out.Input().Shape)
	}
	out.Preprocess.Resize, out.Preprocess.Known = resize, true
	if out.BoxLayout() != models.NoLayout || out.BoxForm() != "" {
		out.Preprocess.Resize, out.Preprocess.Letterbox = 0, true // the input shows the whole picture
	}
	return p.resized(out), nil
}

// resized returns m with p.Resize as the length of the shorter side of pictures before the
// crop, if it is set.
func (p *Preprocess) resized(m *models.Model) *models.Model {
	if p.Resize == 0 || m.Preprocess.Resize == p.Resize {
		return m
	}
	out := *m
	out.Preprocess.Resize = p.Resize
	return &out
}

// Check refuses invalid values of EXIF and Interpolation. The error is a *problem.Error.
func (p *Preprocess) Check() error {
	if p.EXIF != "" && p.EXIF != data.ApplyEXIF && p.EXIF != data.IgnoreEXIF {
		return problem.New("exif", strconv.Quote(p.EXIF), "want "+data.ApplyEXIF+" or "+data.IgnoreEXIF, "")
	}
	if p.Interpolation == "" {
		return nil
	}
	if _, err := images.ParseFilter(p.Interpolation); err != nil {
		return problem.Wrap("interpolation", err)
	}
	return nil
}

// pictures returns m with p's settings for reading picture files.
func (p *Preprocess) pictures(m *models.Model) (*models.Model, error) {
	if err := p.Check(); err != nil || p.EXIF == "" && p.Interpolation == "" {
		return m, err
	}
	out := *m
	if p.EXIF != "" {
		out.Preprocess.EXIF = p.EXIF == data.ApplyEXIF
	}
	if p.Interpolation != "" {
		filter, _ := images.ParseFilter(p.Interpolation)
		out.Preprocess.Interpolation = string(filter)
	}
	return &out, nil
}

// withoutImage returns m with arrays as input, and without information about pictures.
func withoutImage(m *models.Model) (*models.Model, error) {
	m, err := models.WithArrays(m)
	if err != nil {
		return nil, err
	}
	out := *m
	out.Preprocess = models.Preprocess{}
	return &out, nil
}

// shorterSide returns the length of the shorter side of an image after scaling and before the
// centre crop: 256 for a crop of 224, and in proportion for others. It returns 0 for models
// of small images, which means that the image is scaled to fill the crop.
func shorterSide(input []int) int {
	const small, scaled, crop = 64, 256, 224
	side := slices.Max(input[:2])
	if side < small {
		return 0
	}
	return side * scaled / crop
}
