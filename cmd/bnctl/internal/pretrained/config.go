package pretrained

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
)

// config has what bnctl needs of a hub repository's config.json and preprocessor_config.json.
type config struct {
	network       string // name of the network in the zoo, or ""
	labels        []string
	mean, std     []float64
	resize        int
	interpolation string
}

// maxConfig is the largest accepted size of a config, in bytes.
const maxConfig = 4 << 20

// configOf reads the configs of a repository of the hub. It returns nil without any.
func configOf(source string) (*config, error) {
	owner, rest, _ := strings.Cut(source, "/")
	name, _, _ := strings.Cut(rest, "/")
	if name == "" {
		return nil, nil // opening the source will return the error
	}
	repository := owner + "/" + name
	c := &config{}
	for _, file := range []struct {
		name  string
		parse func([]byte, *config) error
	}{{"config.json", parseConfig}, {"preprocessor_config.json", parsePreprocessor}} {
		b, err := regular.Read(repository+"/"+file.name, maxConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := file.parse(b, c); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", repository, file.name, err)
		}
	}
	return c, nil
}

// timmConfig has fields of the config.json of timm, and of the config.json of transformers.
type timmConfig struct {
	Architecture string            `json:"architecture"`
	Labels       []string          `json:"label_names"`
	ByID         map[string]string `json:"id2label"`
	Pretrained   struct {
		Input         []int     `json:"input_size"`
		Interpolation string    `json:"interpolation"`
		Crop          float64   `json:"crop_pct"`
		Mean          []float64 `json:"mean"`
		Std           []float64 `json:"std"`
		Labels        []string  `json:"label_names"`
		Tag           string    `json:"tag"`
		Classes       int       `json:"num_classes"`
	} `json:"pretrained_cfg"`
}

// parseConfig reads a config.json.
func parseConfig(b []byte, c *config) error {
	var t timmConfig
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	p := t.Pretrained
	c.mean, c.std = p.Mean, p.Std
	if a, err := models.Lookup(t.Architecture); err == nil {
		c.network = a.Name
	}
	if c.labels = t.Labels; c.labels == nil {
		c.labels = p.Labels
	}
	if c.labels == nil {
		c.labels = byNumber(t.ByID)
	}
	if c.labels == nil && p.Classes == imageNetClasses && strings.HasSuffix(p.Tag, "in1k") {
		c.labels = imageNetLabels() // timm omits the names of ImageNet's classes
	}
	if p.Interpolation == "bicubic" || p.Interpolation == "bilinear" {
		c.interpolation = p.Interpolation
	}
	if len(p.Input) == 3 && p.Crop > 0 && p.Crop <= 1 {
		c.resize = resized(slices.Max(p.Input[1:]), p.Crop)
	}
	return nil
}

// resized returns the length of the shorter side after scaling, before the crop, as timm computes it.
func resized(side int, crop float64) int { return int(math.Floor(float64(side) / crop)) }

// byNumber returns the names of classes in the order of their numbers. It returns nil if a number from 0 on
// is missing, or if a name is empty.
func byNumber(names map[string]string) []string {
	var labels []string
	for i := range len(names) {
		name := names[strconv.Itoa(i)]
		if name == "" || strings.HasPrefix(name, "LABEL_") {
			return nil
		}
		labels = append(labels, name)
	}
	return labels
}

// parsePreprocessor reads a preprocessor_config.json of transformers.
func parsePreprocessor(b []byte, c *config) error {
	var t struct {
		Mean     []float64       `json:"image_mean"`
		Std      []float64       `json:"image_std"`
		Resample int             `json:"resample"`
		Crop     float64         `json:"crop_pct"`
		Size     json.RawMessage `json:"size"`
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	if t.Mean != nil && t.Std != nil {
		c.mean, c.std = t.Mean, t.Std
	}
	const bilinear, bicubic = 2, 3 // Pillow's numbers
	switch t.Resample {
	case bilinear:
		c.interpolation = "bilinear"
	case bicubic:
		c.interpolation = "bicubic"
	}
	var side int
	var sides map[string]int
	if json.Unmarshal(t.Size, &side) != nil && json.Unmarshal(t.Size, &sides) == nil {
		side = max(sides["shortest_edge"], sides["height"])
	}
	if side > 0 && side < 1<<14 {
		if c.resize = side; t.Crop > 0 && t.Crop <= 1 {
			c.resize = resized(side, t.Crop)
		}
	}
	return nil
}

// complete sets those options that are not set.
func (c *config) complete(o *modelfile.Options, withArch bool) {
	if withArch && o.Arch == "" {
		o.Arch = c.network
	}
	if o.Labels == nil && len(c.labels) > 0 {
		o.Labels = c.labels
	}
	if !isUnset(o.Preprocess) {
		return
	}
	if len(c.mean) == 3 && len(c.std) == 3 {
		o.Preprocess.Mean, o.Preprocess.Std = c.mean, c.std
	}
	o.Preprocess.Resize, o.Preprocess.Interpolation = c.resize, c.interpolation
}
