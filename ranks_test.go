package bnctl_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

func threeSteps(r *recipe.Recipe) { r.Steps, r.Epochs, r.Batch, r.Replicas = 3, 0, 16, 2 }

// trainOnRanks trains on two ranks, with files only on the first. It returns the step that
// the run began at.
func trainOnRanks(t *testing.T, folder string) (first int) {
	t.Helper()
	first = -1
	var all sync.WaitGroup
	errs := make([]error, 2)
	for i, r := range inprocess.New(2) {
		all.Go(func() {
			p := fabric.New(r, 20*time.Second)
			o := bnctl.TrainOptions{Data: "glyphs:64", Resume: "auto", CheckpointEvery: 1, Peers: p,
				Output: filepath.Join(folder, "run.bnm"), Fleet: fleet.Options{Devices: "ref"}}
			if i > 0 {
				o.Output = filepath.Join(folder, "elsewhere.bnm")
			}
			resumed, err := o.Resumes(t.Context())
			if err != nil {
				errs[i] = err
				return
			}
			if !resumed {
				o.Model = "mlp-bn"
			}
			o.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
				if s, ok := e.(train.Started); ok {
					first = s.FirstStep // only rank 0 has it
				}
				return nil
			})
			err = trainAs(t.Context(), o, func(r *recipe.Recipe) {
				if !resumed {
					threeSteps(r)
				}
			})
			errs[i] = errors.Join(err, p.Close())
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return first
}

// TestRanksGoOn checks that rank 0 decides whether a run is resumed, because only rank 0 has the checkpoint.
// The template equals the template of a run in one process.
func TestRanksGoOn(t *testing.T) {
	folder := t.TempDir()
	if first := trainOnRanks(t, folder); first != 0 {
		t.Errorf("a new run begins at step %d", first)
	}
	if first := trainOnRanks(t, folder); first != 3 {
		t.Errorf("a run that has its 3 steps goes on at step %d", first)
	}
	alone := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:64", Output: filepath.Join(folder, "alone.bnm"),
		Fleet: fleet.Options{Devices: "ref"}}
	err := trainAs(t.Context(), alone, threeSteps)
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := os.ReadFile(alone.Output)
	two, err2 := os.ReadFile(filepath.Join(folder, "run.bnm"))
	if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
		t.Errorf("two ranks wrote another template than one process: %v, %v", err1, err2)
	}
	if files, err := os.ReadDir(folder); len(files) != 6 || err != nil {
		t.Errorf("written: %v, %v; want run and alone, .bnm, .bnc and .chain.jsonl", files, err)
	}
}

// TestRanksFollowForInt8: a training for int8 with QATRanges and QATFold writes one template on one and on
// two ranks. Each rank measures ranges on its devices, and rebuilds the model between two epochs.
func TestRanksFollowForInt8(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	options := func(model, output string) bnctl.TrainOptions {
		return bnctl.TrainOptions{Model: model, Data: "glyphs:32", Output: path(output),
			Fleet: fleet.Options{Devices: "ref"}}
	}
	steps := func(epochs int) func(*recipe.Recipe) {
		return func(r *recipe.Recipe) {
			r.Epochs, r.Batch, r.Replicas, r.QAT = epochs, 16, 2, epochs > 1
			if r.QAT {
				r.QATRanges, r.QATFold, r.LR = 2, 1, 0.01
			}
		}
	}
	if err := trainAs(t.Context(), options("mlp-bn", "float.bnm"), steps(1)); err != nil {
		t.Fatal(err)
	}
	if err := trainAs(t.Context(), options(path("float.bnm"), "alone.bnm"), steps(3)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	errs := make([]error, 2)
	for i, r := range inprocess.New(2) {
		all.Go(func() {
			o := options(path("float.bnm"), "ranks.bnm")
			o.Peers = fabric.New(r, 20*time.Second)
			errs[i] = errors.Join(trainAs(t.Context(), o, steps(3)), o.Peers.Close())
		})
	}
	all.Wait()
	one, err1 := os.ReadFile(path("alone.bnm"))
	two, err2 := os.ReadFile(path("ranks.bnm"))
	if err := errors.Join(errs[0], errs[1], err1, err2); err != nil || !bytes.Equal(one, two) {
		t.Errorf("two ranks wrote another template than one process: %v", err)
	}
}
