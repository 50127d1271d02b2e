package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// precisionFlag is that of commands that run a model as it is.
func precisionFlag() cli.Flag {
	return &cli.StringFlag{Name: "precision",
		Usage: "f32, or bf16: less precise, and faster where the device has it (default: that of its training)"}
}

// precisionFor returns the precision of the flag; without it, that at which m
// was trained, so that what training computed comes out again.
func precisionFor(c *cli.Context, m *models.Model) string {
	if p := c.String("precision"); p != "" {
		return p
	}
	return predict.TrainedOn(m).Precision
}

// warnOfTraining says when training evaluated m with other kernels, where the
// last bits may differ, or at another precision.
func warnOfTraining(o *output, m *models.Model, is predict.Terms) {
	was := predict.TrainedOn(m)
	if was.Kernels != "" && was.Kernels != is.Kernels {
		o.note("the model was trained with kernel class %s, this is %s: outputs may differ in their last bits",
			was.Kernels, is.Kernels)
	}
	if was.Precision != "" && was.Precision != is.Precision {
		o.note("the model was trained at precision %s, this is %s: outputs differ", was.Precision, is.Precision)
	}
}
