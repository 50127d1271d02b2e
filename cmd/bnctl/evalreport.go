package main

import (
	"time"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

func reportEvaluation(o *output, m *models.Model, e *evaluation.Evaluation, d *predict.Details,
	took time.Duration) {
	var lines []string
	if v := predict.NewElementsReport(m, e, d, took); v != nil {
		o.event("eval", v)
		lines = v.Lines()
	} else {
		v := predict.NewReport(m, e, d, took)
		o.event("eval", v)
		lines = v.Lines(m, e)
	}
	for _, line := range lines {
		o.result("%s", line)
	}
}
