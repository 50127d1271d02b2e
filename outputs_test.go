package bnctl_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/modelfile/export"
	"github.com/bnctl/bnctl/modelfile/strip"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// TestOutputsHaveTheirExtensions: no function of the library writes a template to a file .onnx, or a
// checkpoint to a file .pth. The command checks this separately.
func TestOutputsHaveTheirExtensions(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	trained := func(output, checkpoint string) error {
		o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:64", Output: in(output),
			Checkpoint: in(checkpoint), Fleet: fleet.Options{Devices: "ref"}}
		return trainAs(t.Context(), o, func(r *recipe.Recipe) {
			r.Steps, r.Epochs, r.Batch, r.Replicas = 1, 0, 16, 2
		})
	}
	if err := trained("m.bnm", "m.bnc"); err != nil {
		t.Fatal(err)
	}
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	stripped := func(output string) error {
		_, err := strip.Files(strip.Options{Inputs: []string{in("m.bnc")}, Output: in(output)})
		return err
	}
	for name, err := range map[string]error{
		"train to .onnx": trained("x.onnx", "x.bnc"), "train without an extension": trained("x", "x.bnc"),
		"a checkpoint as .pth": trained("x.bnm", "x.pth"), "strip to .onnx": stripped("x.onnx"),
		"strip to .h5":  stripped("x.h5"),
		"save to .onnx": func() error { _, err := formats.SaveModel(in("x.onnx"), m); return err }(),
	} {
		if p := new(problem.Error); !errors.As(err, &p) || !p.Misuse() {
			t.Errorf("%s: %v, want a mistake of the caller", name, err)
		}
	}
	if files, err := os.ReadDir(folder); len(files) != 3 || err != nil {
		t.Errorf("written: %v, %v; want m.bnm, m.bnc and m.chain.jsonl alone", files, err)
	}
	if err := stripped("m.bnc"); !problem.IsMisuse(err) || !strings.Contains(err.Error(), "is the input") {
		t.Errorf("strip over its input: %v", err)
	}
	_, err = export.File(t.Context(), export.Options{Input: in("m.bnm"), Output: in("./m.bnm"), Format: "torch"})
	if !problem.IsMisuse(err) || !strings.Contains(err.Error(), "is the input") {
		t.Errorf("export over its input: %v", err)
	}
	_, err = doctor.RepairFile(t.Context(), in("m.bnm"), in("m.bnm"), modelfile.Options{},
		doctor.RepairOptions{Data: "glyphs:64"})
	if !problem.IsMisuse(err) || !strings.Contains(err.Error(), "is the input") {
		t.Errorf("repair over its input: %v", err)
	}
	unlock, err := regular.Lock(in("m.bnm"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := stripped("m.bnm"); !errors.Is(err, problem.ErrLocked) {
		t.Errorf("strip to a file that a training of this program writes: %v", err)
	}
}
