package reproduce

import (
	"fmt"
	"math"
	"time"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// report is the result of the command reproduce, in the form of its JSON.
type report struct {
	Model   string  `json:"model"`
	Equal   *bool   `json:"equal"`            // null after a dry run, which compares no bits
	SHA256  string  `json:"sha256,omitempty"` // SHA-256 of the template from the second training
	Epochs  int     `json:"epochs"`           // number of epochs that were compared with the chain
	Differs int     `json:"first_difference,omitempty"`
	Chain   bool    `json:"chain"` // whether the chain of the training was available
	DryRun  bool    `json:"dry_run,omitempty"`
	Seconds float64 `json:"seconds"` // duration of the second training; after a dry run its estimate
	Steps   int     `json:"steps"`
}

// isEqual reports whether the bits were compared and are equal.
func (r *report) isEqual() bool { return r.Equal != nil && *r.Equal }

// setEqual stores the result of the comparison.
func (r *report) setEqual(equal bool) { r.Equal = &equal }

// text describes the result in a sentence.
func (r *report) text() string {
	switch {
	case r.DryRun:
		return fmt.Sprintf("%s can be reproduced here: all inputs are those of the recipe; %d steps take about "+
			"%.0f s", r.Model, r.Steps, math.Ceil(r.Seconds))
	case r.isEqual() && r.SHA256 != "":
		return fmt.Sprintf("equal: %s  sha256 %s  (%s of the chain)", r.Model, r.SHA256,
			problem.Plural(r.Epochs, "epoch"))
	case r.isEqual():
		return fmt.Sprintf("equal: %s of %s", problem.Plural(r.Epochs, "epoch"), r.Model)
	case r.Differs > 0:
		return fmt.Sprintf("%s differs: the first epoch with another state or evaluation is %d", r.Model, r.Differs)
	case r.Chain:
		return fmt.Sprintf("%s differs, although all its epochs are equal: the file was changed after the training",
			r.Model)
	}
	return fmt.Sprintf("%s differs; its chain is not there, which would name the epoch, or show that the "+
		"recipe was edited", r.Model)
}

// event reports lost devices. In a dry run it stops the training as soon as the time of a step is known.
func (a *repetition) event(e train.Event) {
	if l, ok := e.(train.DeviceLost); ok {
		a.out.Note("device %s lost at step %d: %s; %s", l.Device, l.Step, l.Reason, l.Successors())
	}
	if s, ok := e.(train.Stepped); ok && a.dryRun {
		if s.Throughput > 0 {
			a.report.Seconds = a.estimate(s)
		}
		if s.Step >= 3 {
			a.stop(errMeasured)
		}
	}
}

// estimate estimates the duration of the training in seconds, after its first steps. It is the sum of the
// time so far, the remaining steps, and the evaluations. It assumes that evaluating a sample needs a third of
// the time of training on it.
func (a *repetition) estimate(s train.Stepped) float64 {
	r := a.original.recipe
	epochs := r.Epochs
	if a.original.chain != nil {
		epochs = len(a.original.chain.Links)
	}
	trained := float64(a.report.Steps-s.Step) * float64(r.StepBatch())
	evaluated := float64(r.Validation.Samples) * float64(max(epochs, 1))
	return time.Since(a.began).Seconds() + (trained+evaluated/3)/s.Throughput
}
