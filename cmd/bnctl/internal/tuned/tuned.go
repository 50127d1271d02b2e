// Package tuned writes models that are improved by the results of an evaluation: with a temperature for
// probabilities, or with thresholds for labels.
package tuned

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// Flags returns the flags of this package.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "calibrate", Usage: "write a template to `FILE` with the temperature that fits the " +
			"probabilities to the data best"},
		&cli.StringFlag{Name: "threshold-for", DefaultText: "none", Usage: "print the least probabilities that " +
			"give labels a `precision:SHARE` or a recall:SHARE"},
		&cli.StringFlag{Name: "thresholds", Usage: "write a template to `FILE` with the probabilities of " +
			"--threshold-for, which decide in predict and serve whether a label holds"},
	}
}

// Options are the values of Flags.
type Options struct {
	Wish       *predict.Wish // the goal that thresholds must meet; nil if they are not requested
	calibrated string        // file for the calibrated model; "" if it is not requested
	thresholds string        // file for the model with thresholds; "" if it is not requested
}

// Read returns the values of Flags. input is the file of the model that is evaluated. It is an error if a
// file cannot be written.
func Read(c *cli.Context, input string) (o Options, err error) {
	o.calibrated, o.thresholds = c.String("calibrate"), c.String("thresholds")
	if c.IsSet("threshold-for") {
		if o.Wish, err = predict.ParseWish(c.String("threshold-for")); err != nil {
			return o, err
		}
	}
	switch {
	case o.thresholds == "":
	case o.Wish == nil:
		return o, commandline.Misuse("--thresholds needs --threshold-for, for example --threshold-for " +
			"precision:0.95")
	case o.calibrated != "":
		return o, commandline.Misuse("--calibrate and --thresholds: thresholds are for the probabilities that a " +
			"model has; calibrate first, then find the thresholds of the written template")
	}
	return o, cmp.Or(writable(o.calibrated, "calibrate", input), writable(o.thresholds, "thresholds", input))
}

// writable returns an error if a file does not end with .bnm, is the input, or cannot be written.
func writable(file, flag, input string) error {
	if file == "" {
		return nil
	}
	if strings.ToLower(filepath.Ext(file)) != ".bnm" {
		return commandline.Misuse("--%s %s: it writes a template; want a name that ends with .bnm", flag, file)
	}
	return cmp.Or(regular.NotInput(file, input), regular.Writable(file))
}

// Calibrates reports whether Write calls predict.Details.Calibrate.
func (o *Options) Calibrates() bool { return o.calibrated != "" }

// Check returns an error for options that do not apply to the model or its data.
func (o *Options) Check(m *models.Model, info data.Info) error {
	if o.Wish != nil {
		if err := o.Wish.Fits(m, info); err != nil {
			return err
		}
	}
	if o.calibrated != "" && (info.Masks || info.Targets != nil) {
		return commandline.Misuse("--calibrate: it is for probabilities of a sample's classes or labels, not "+
			"for %s", info.Kind)
	}
	return nil
}

// Output prints results: Event for programs, Result and Note for people.
type Output struct {
	Event        func(name string, v any)
	Result, Note func(format string, args ...any)
}

// Write writes the files that the options request. d has the predictions of the evaluation of m.
func (o *Options) Write(out Output, m *models.Model, d *predict.Details) error {
	if o.calibrated != "" {
		return o.writeCalibrated(out, m, d)
	}
	if o.thresholds != "" {
		return o.writeThresholds(out, m, d)
	}
	return nil
}

// writeCalibrated writes the model with the temperature that d.Calibrate finds.
func (o *Options) writeCalibrated(out Output, m *models.Model, d *predict.Details) error {
	c, err := d.Calibrate()
	if err != nil {
		return err
	}
	if m.Thresholds != nil {
		out.Note("%s has no thresholds: those of the model are for its probabilities before", o.calibrated)
	}
	if m, err = models.Calibrated(m, c.Scale); err != nil {
		return err
	}
	sum, err := formats.SaveModel(o.calibrated, m)
	if err == nil {
		out.Event("calibrate", c)
		out.Result("%s", c.Line())
		out.Result("wrote %s  sha256 %s", o.calibrated, sum)
	}
	return err
}

// half is the threshold for labels where no threshold meets the goal.
const half = 0.5

// stored is the event for a written model with thresholds.
type stored struct {
	Output     string             `json:"output"`
	SHA256     string             `json:"sha256"`
	Thresholds map[string]float64 `json:"thresholds"`
	OutOfReach []string           `json:"out_of_reach,omitempty"` // labels with the threshold half
}

// writeThresholds writes the model with the thresholds that meet the goal.
func (o *Options) writeThresholds(out Output, m *models.Model, d *predict.Details) error {
	s := stored{Output: o.thresholds, Thresholds: map[string]float64{}}
	var list []float64
	for i, t := range d.Thresholds() {
		threshold, name := float64(t.Threshold), predict.Label(m, i)
		if threshold != threshold {
			threshold, s.OutOfReach = half, append(s.OutOfReach, name)
		}
		list, s.Thresholds[name] = append(list, threshold), threshold
	}
	m, err := models.WithThresholds(m, list)
	if err != nil {
		return err
	}
	if s.SHA256, err = formats.SaveModel(o.thresholds, m); err != nil {
		return err
	}
	if s.OutOfReach != nil {
		out.Note("the goal is out of reach for %s: there a probability of %g decides",
			strings.Join(s.OutOfReach, ", "), half)
	}
	out.Event("thresholds", s)
	out.Result("wrote %s  sha256 %s", o.thresholds, s.SHA256)
	return nil
}
