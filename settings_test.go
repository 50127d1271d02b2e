package bnctl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// TestResumeKeepsTheSettings checks that a resumed run has the options stored in its
// checkpoint, except for options that it sets itself.
func TestResumeKeepsTheSettings(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	began := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:64", Output: in("m.bnm"),
		Checkpoint: in("other.bnc"), CheckpointEvery: 3, LogEvery: 2, LogDir: "logs", DeviceTimeout: 7 * time.Second, Recompute: "all",
		Fleet: fleet.Options{Devices: "ref"}}
	ctx, cancel := context.WithCancel(t.Context())
	began.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
		if s, ok := e.(train.Stepped); ok && s.Step == 4 {
			cancel()
		}
		return nil
	})
	change := func(r *recipe.Recipe) { r.Steps, r.Epochs, r.Batch, r.Replicas = 12, 0, 16, 2 }
	if err := trainAs(ctx, began, change); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	stopped, err := os.ReadFile(in("other.bnc"))
	if err != nil || os.WriteFile(in("stopped.bnc"), stopped, 0o600) != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change            func(*bnctl.TrainOptions)
		saved, told       []int
		logDir, recompute string
		checkpoint        string
		timeout           time.Duration
	}{
		{func(o *bnctl.TrainOptions) { o.CheckpointEvery, o.LogEvery, o.LogDir = 5, 4, bnctl.NoLogDir },
			[]int{5, 10, 12}, []int{8, 12}, "", "all", in("other.bnc"), 7 * time.Second},
		{func(o *bnctl.TrainOptions) { o.Checkpoint, o.Recompute = in("own.bnc"), "none" },
			[]int{6, 9, 12}, []int{6, 8, 10, 12}, "logs", "none", in("own.bnc"), 7 * time.Second},
	} {
		o := bnctl.TrainOptions{Resume: in("stopped.bnc"), Fleet: fleet.Options{Devices: "ref"}}
		c.change(&o)
		var saved, told []int
		var resumed bnctl.TrainOptions
		o.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
			switch e := e.(type) {
			case bnctl.Resumed:
				resumed = *e.Options
			case train.Stepped:
				told = append(told, e.Step)
			case train.CheckpointWritten:
				saved = append(saved, e.Step)
			}
			return nil
		})
		if err := trainAs(t.Context(), o, func(*recipe.Recipe) {}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(saved, c.saved) || !slices.Equal(told, c.told) {
			t.Errorf("checkpoints at %v, want %v; lines at %v, want %v", saved, c.saved, told, c.told)
		}
		if resumed.LogDir != c.logDir || resumed.Recompute != c.recompute || resumed.Checkpoint != c.checkpoint ||
			resumed.DeviceTimeout != c.timeout {
			t.Errorf("%+v", resumed)
		}
	}
}
