package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
)

// preprocessFlags say how images become the input of a model that does not say so itself.
func preprocessFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "preprocess",
			Usage: "imagenet, unit, raw or caffe: how pixels become the model's input; none: not known"},
		&cli.StringFlag{Name: "mean", Usage: "`R,G,B` to subtract, in units of x/255"},
		&cli.StringFlag{Name: "std", Usage: "`R,G,B` to divide by, in units of x/255"},
		&cli.StringFlag{Name: "exif", Usage: "apply the orientation that picture files tell, or ignore it",
			DefaultText: "train applies it; otherwise as the model was trained"},
		&cli.StringFlag{Name: "interpolation", Usage: "bilinear or bicubic: how pictures are resized",
			DefaultText: "as the model says, or bilinear"},
	}
}

// caffeMean is what models of Caffe's zoo subtract, in the order B, G, R.
var caffeMean = []float64{103.939, 116.779, 123.68}

// images lists the meanings of --preprocess.
var images = map[string]models.Image{
	"imagenet": {Scale: 1. / 255, Mean: models.ImageNetMean, Std: models.ImageNetStd},
	"unit":     {Scale: 1. / 255},
	"raw":      {Scale: 1},
	"caffe":    {Scale: 1, Mean: caffeMean, BGR: true},
}

// preprocessed returns m with the preprocessing of the flags, or with its own.
// An image operation that nobody vouches for goes: then m takes arrays.
func preprocessed(c *cli.Context, m *models.Model) (*models.Model, error) {
	m, err := withPictures(c, m)
	if err != nil {
		return nil, err
	}
	name, resize := c.String("preprocess"), 0
	if name == "" {
		switch {
		case c.IsSet("mean") || c.IsSet("std"):
		case m.Preprocess.Known:
			return m, nil
		default:
			return withoutImage(m)
		}
		name, resize = "unit", m.Preprocess.Resize
	}
	if name == "none" {
		if c.IsSet("mean") || c.IsSet("std") {
			return nil, misuse("--preprocess none contradicts --mean and --std; leave it out")
		}
		return withoutImage(m)
	}
	i, ok := images[name]
	if !ok {
		names := []string{"imagenet", "unit", "raw", "caffe", "none"}
		return nil, misuse("--preprocess %q%s: want one of %s", name, nearest(name, names),
			strings.Join(names, ", "))
	}
	if i.Mean, err = numbers(c, "mean", i.Mean); err != nil {
		return nil, err
	}
	if i.Std, err = numbers(c, "std", i.Std); err != nil {
		return nil, err
	}
	out, err := models.WithImage(m, i)
	if err != nil {
		return nil, err
	}
	if name == "imagenet" {
		resize = shorterSide(out.Input().Shape)
	}
	out.Preprocess.Resize, out.Preprocess.Known = resize, true
	return out, nil
}

// withPictures returns m with what the flags say of reading picture files.
func withPictures(c *cli.Context, m *models.Model) (*models.Model, error) {
	if !c.IsSet("exif") && !c.IsSet("interpolation") {
		return m, nil
	}
	out := *m
	if c.IsSet("exif") {
		how, err := exifOf(c)
		if err != nil {
			return nil, err
		}
		out.Preprocess.EXIF = how == applyEXIF
	}
	if c.IsSet("interpolation") {
		filter, err := filterOf(c)
		if err != nil {
			return nil, err
		}
		out.Preprocess.Interpolation = string(filter)
	}
	return &out, nil
}

// The values of --exif.
const (
	applyEXIF  = "apply"
	ignoreEXIF = "ignore"
)

// exifOf returns the value of --exif; "" without the flag.
func exifOf(c *cli.Context) (string, error) {
	switch v := c.String("exif"); v {
	case applyEXIF, ignoreEXIF:
		return v, nil
	case "":
		if !c.IsSet("exif") {
			return "", nil
		}
	}
	return "", misuse("--exif %q: want apply or ignore", c.String("exif"))
}

func filterOf(c *cli.Context) (data.Filter, error) {
	f, err := data.ParseFilter(c.String("interpolation"))
	if err != nil {
		return "", misuse("--interpolation: %v", err)
	}
	return f, nil
}

// shorterSide returns what the shorter side of an image is scaled to before
// the centre crop: 256 for a crop of 224, and as much for others; 0, which
// means that the crop is filled, for models of small images.
func shorterSide(input []int) int {
	const small, scaled, crop = 64, 256, 224
	side := slices.Max(input[:2])
	if side < small {
		return 0
	}
	return side * scaled / crop
}

// numbers reads a flag with numbers, separated by commas.
func numbers(c *cli.Context, flag string, otherwise []float64) ([]float64, error) {
	if !c.IsSet(flag) {
		return otherwise, nil
	}
	var out []float64
	for _, s := range strings.Split(c.String(flag), ",") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, misuse("--%s %q: %q is not a number", flag, c.String(flag), s)
		}
		out = append(out, v)
	}
	return out, nil
}
