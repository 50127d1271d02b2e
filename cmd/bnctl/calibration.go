package main

import (
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// writeCalibrated writes the model with the temperature that fits the answers best.
func (e *evaluationRun) writeCalibrated(o *output, m *models.Model, d *predict.Details) error {
	c, err := d.Calibrate()
	if err != nil {
		return err
	}
	if m, err = models.Calibrated(m, c.Scale); err != nil {
		return err
	}
	sum, err := formats.SaveModel(e.calibrate, m)
	if err == nil {
		o.event("calibrate", c)
		o.result("%s", c.Line())
		o.result("wrote %s  sha256 %s", e.calibrate, sum)
	}
	return err
}
