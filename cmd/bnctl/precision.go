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

// warnOfPrecision says when training evaluated at another precision.
func (p *predictor) warnOfPrecision(o *output) {
	var r struct{ Precision string }
	have := p.devices.Precision()
	if json.Unmarshal(p.model.Recipe, &r) == nil && r.Precision != "" && r.Precision != have {
		o.note("the model was trained at precision %s, this is %s: outputs differ", r.Precision, have)
	}
}
