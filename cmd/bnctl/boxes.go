package main

import (
	"context"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/detect"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
)

type boxOptions = detect.Options

var predictsBoxes, formFlags, limitFlags = detect.Detects, detect.FormFlags, detect.LimitFlags
var suppressFlag, parseSuppression, openAny = detect.SuppressFlag, detect.ParseSuppression, detect.OpenData

// boxes evaluates a detector. Options that have no meaning for boxes are errors.
func (e *evaluationRun) boxes(ctx context.Context, o *output, v *modelfile.ReadOnly) error {
	if e.tuned != (tunedOptions{}) {
		return misuse("a detector has no --calibrate and --thresholds")
	}
	d := detect.Evaluation{Model: v, Against: e.otherPath, Spec: e.source, Output: outputOfBoxes(o),
		Workers: e.workers, Mistakes: e.mistakes, AsCSV: e.csv, CSV: csvTo(o.stdout),
		View: func(path string) (*modelfile.ReadOnly, error) { return viewModel(o, path, e.file) },
		Open: func(v *modelfile.ReadOnly, n int) (*predict.Predictor, error) {
			return openPredictor(ctx, o, v.Model, detect.Evaluating(e.options), n)
		}}
	return d.Run(ctx)
}
