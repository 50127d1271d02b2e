package main

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/internal/inprocess"
)

// TestReproduceOfRanks trains on two ranks, and reproduces the template in one process on three devices.
func TestReproduceOfRanks(t *testing.T) {
	folder := t.TempDir()
	model := filepath.Join(folder, "m.bnm")
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i, r := range inprocess.New(2) {
		all.Go(func() {
			p := fabric.New(r, 20*time.Second)
			o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:32", Validation: "glyphs:8", Peers: p,
				Output: model, Fleet: fleet.Options{Devices: "ref"}}
			if i > 0 {
				o.Output = filepath.Join(folder, "elsewhere.bnm")
			}
			errs[i] = errors.Join(trainTwoEpochs(t, o), p.Close())
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	says(t, exitDone, "epoch 2: equal", "reproduce", model, "--devices", "3xref")
}

func trainTwoEpochs(t *testing.T, o bnctl.TrainOptions) error {
	run, err := bnctl.Open(t.Context(), o)
	if err != nil {
		return err
	}
	defer run.Close()
	r := run.Recipe()
	r.Epochs, r.Batch, r.Replicas = 2, 8, 4
	_, err = run.Train(t.Context())
	return err
}

// TestReproduceLosesADevice checks that the result of reproduce is the same if a device dies meanwhile.
func TestReproduceLosesADevice(t *testing.T) {
	folder := t.TempDir()
	plugin, model := buildSickDevice(t, folder), filepath.Join(folder, "m.bnm")
	says(t, exitDone, "", "train", "--quiet", "--model", "mlp-bn", "--data", "glyphs:64", "--val", "glyphs:8",
		"--batch", "8", "--replicas", "2", "--epochs", "3", "--devices", "ref", "-o", model)
	t.Setenv("BNCTL_SICK_KERNELS", "ref")
	t.Setenv("BNCTL_SICK", "panic")
	says(t, exitDone, "device sick lost at step ", "reproduce", model, "--devices", "ref,sick",
		"--device-plugin", plugin, "--allow-unlocked")
}
