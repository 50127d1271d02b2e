// Package detect has the parts of the commands predict and eval that are about detectors: the boxes that
// predict writes, and the figures that eval prints.
package detect

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/problem"
)

// Options are the values of those flags of predict that are about boxes.
type Options struct {
	limits   cells.Options
	draw     string // folder for pictures with their boxes; "" for none
	lastFlag string // name of one of these flags that the user gave; "" if none

	unchanged bool // write the outputs of the model, not boxes
	chosen    bool // the user chose the form of the outputs
}

// Flags returns those flags of predict that are about boxes.
func Flags() []cli.Flag {
	return append(append(FormFlags(), &cli.StringFlag{Name: "draw", DefaultText: "none",
		Usage: "write the pictures with their boxes to the folder `DIR`, of a detector"}), LimitFlags()...)
}

// LimitFlags returns the flags that limit the boxes.
func LimitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.Float64Flag{Name: "box-score", Value: float64(detect.Default.Score),
			Usage: "boxes have a score above `SCORE`, 0 to 1, of a detector"},
		&cli.Float64Flag{Name: "box-overlap", Value: float64(detect.Default.Overlap),
			Usage: "of two boxes of a class with an overlap above `SHARE`, the one with the higher score stays"},
	}
}

// FormFlags returns the flag that names the layout of the outputs of a detector.
func FormFlags() []cli.Flag {
	return []cli.Flag{&cli.StringFlag{Name: "boxes", DefaultText: "as the outputs show",
		Usage: "yolov8, yolov5, yolox, yolox-decoded, ssd or suppressed: the `FORM` of a detector's outputs; " +
			"none: as they are"}}
}

// ParseOptions returns the options that the flags of predict set.
func ParseOptions(c *cli.Context) (Options, error) {
	o := Options{draw: c.String("draw"),
		unchanged: c.Bool("logits") || c.String("only") != "" || c.String("boxes") == string(models.Unread),
		chosen:    c.IsSet("boxes")}
	var err error
	if o.limits, o.lastFlag, err = parseLimits(c); err != nil {
		return o, err
	}
	if o.draw != "" {
		o.lastFlag = "draw"
	}
	return o, nil
}

// parseLimits returns the limits that LimitFlags set, and the name of the last of these flags that the user
// gave.
func parseLimits(c *cli.Context) (limits cells.Options, lastFlag string, err error) {
	limits = detect.Default
	for _, f := range []struct {
		name string
		to   *float32
	}{{"box-score", &limits.Score}, {"box-overlap", &limits.Overlap}} {
		if !c.IsSet(f.name) {
			continue
		}
		v := c.Float64(f.name)
		if !(v >= 0 && v <= 1) {
			return limits, "", problem.New(f.name, fmt.Sprint(v), "want a number from 0 to 1", "")
		}
		*f.to, lastFlag = float32(v), f.name
	}
	return limits, lastFlag, nil
}

// SuppressFlag returns the flag of export that adds the removal of overlapping boxes to the exported file.
func SuppressFlag() cli.Flag {
	return &cli.BoolFlag{Name: "nms", Usage: "end the ONNX file of a detector, for one picture, in " +
		"NonMaxSuppression: its outputs are boxes, scores and labels"}
}

// ParseSuppression returns the limits in the value of SuppressFlag, or nil if the flag is not given.
func ParseSuppression(c *cli.Context) (*cells.Options, error) {
	limits, given, err := parseLimits(c)
	switch {
	case err != nil:
		return nil, err
	case c.Bool("nms"):
		return &limits, nil
	case given != "":
		return nil, problem.New(given, "", "it has a meaning only with {nms}", "add {nms}")
	}
	return nil, nil
}
