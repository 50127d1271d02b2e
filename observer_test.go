package bnctl_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// TestObserverEndsARun checks that an error of the observer ends a run after any event, and that the
// checkpoint is written if training has begun.
func TestObserverEndsARun(t *testing.T) {
	enough := errors.New("enough")
	for name, at := range map[string]func(bnctl.Event) bool{
		"data":    func(e bnctl.Event) bool { _, ok := e.(bnctl.DataOpened); return ok },
		"split":   func(e bnctl.Event) bool { _, ok := e.(bnctl.SamplesHeldOut); return ok },
		"model":   func(e bnctl.Event) bool { _, ok := e.(bnctl.ModelMade); return ok },
		"devices": func(e bnctl.Event) bool { _, ok := e.(bnctl.DevicesOpened); return ok },
		"begins":  func(e bnctl.Event) bool { return e == bnctl.Begins{} },
		"step":    func(e bnctl.Event) bool { s, ok := e.(train.Stepped); return ok && s.Step == 2 },
		"answers": func(e bnctl.Event) bool { _, ok := e.(bnctl.Evaluates); return ok },
		"epoch":   func(e bnctl.Event) bool { _, ok := e.(bnctl.Chained); return ok },
		"written": func(e bnctl.Event) bool { _, ok := e.(train.Finished); return ok },
	} {
		t.Run(name, func(t *testing.T) {
			checkpoint := filepath.Join(t.TempDir(), "run.bnc")
			o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:64", Checkpoint: checkpoint, LogEvery: 1,
				Details: true}
			o.ValSplit.Fraction, o.Fleet.Devices = 0.5, "ref"
			seen := false
			o.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
				if at(e) {
					seen = true
					return enough
				}
				return nil
			})
			err := trainAs(t.Context(), o, func(r *recipe.Recipe) { r.Batch, r.Replicas, r.Epochs = 8, 2, 1 })
			if !errors.Is(err, enough) || !seen {
				t.Errorf("the error is %v, want %v", err, enough)
			}
			if errors.Is(err, context.Canceled) {
				t.Errorf("%v is about a context", err)
			}
			_, err = (&bnctl.TrainOptions{Resume: "auto", Checkpoint: checkpoint}).Resumes(t.Context())
			if err != nil {
				t.Error(err)
			}
		})
	}
}
