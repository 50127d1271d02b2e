package main

import (
	"context"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/detect"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
)

type boxOptions = detect.Options

var predictsBoxes, formFlags, limitFlags = detect.Detects, detect.FormFlags, detect.LimitFlags

var suppressFlag, parseSuppression = detect.SuppressFlag, detect.ParseSuppression

// boxes evaluates a detector. It refuses options without a meaning for boxes.
func (e *evaluationRun) boxes(ctx context.Context, o *output, v *modelfile.ReadOnly) error {
	if e.against != "" || e.tuned != (tunedOptions{}) {
		return misuse("a detector has no --against, --calibrate and --thresholds")
	}
	d := detect.Evaluation{Model: v.Model, Spec: e.source, Output: outputOfBoxes(o), Mistakes: e.mistakes,
		AsCSV: e.csv, CSV: csvTo(o.stdout),
		Reading: predict.Reading{Workers: e.workers, Verify: v.Verify},
		Open:    func(n int) (*predict.Predictor, error) { return openPredictor(ctx, o, v.Model, e.on, n) }}
	return d.Run(ctx)
}
