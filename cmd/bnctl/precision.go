package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/models"
)

// precisionFlag is that of commands that run a model as it is.
func precisionFlag() cli.Flag {
	return &cli.StringFlag{Name: "precision",
		Usage: "f32, or bf16: less precise, and faster where the device has it (default: that of its training)"}
}

// precisionFor returns the precision of the flag; without it, that at which m
// was trained, so that what training computed comes out again.
func precisionFor(c *cli.Context, m *models.Model) string {
	var r struct{ Precision string }
	if p := c.String("precision"); p != "" || json.Unmarshal(m.Recipe, &r) != nil {
		return p
	}
	return r.Precision
}

// warnOfTraining says when training evaluated m with other kernels, where the
// last bits may differ, or at another precision.
func warnOfTraining(o *output, m *models.Model, kernels, precision string) {
	var was struct{ Kernels, Precision string }
	if json.Unmarshal(m.Recipe, &was) != nil {
		return
	}
	if was.Kernels != "" && was.Kernels != kernels {
		o.note("the model was trained with kernel class %s, this is %s: outputs may differ in their last bits",
			was.Kernels, kernels)
	}
	if was.Precision != "" && was.Precision != precision {
		o.note("the model was trained at precision %s, this is %s: outputs differ", was.Precision, precision)
	}
}
