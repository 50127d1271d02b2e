package cpu_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
)

// TestReadmeSum checks that README's first session prints the sum that README shows, on any machine.
func TestReadmeSum(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole session is trained")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`wrote glyphs.bnm  sha256 ([0-9a-f]{64})`).FindSubmatch(readme)
	if want == nil {
		t.Fatal("README prints no sum of glyphs.bnm")
	}
	ctx := context.Background()
	src, val := glyphs(t, data.Train), glyphs(t, data.Test)
	m, err := modelfile.Start("lenet-bn", src.Info(), modelfile.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := recipe.Default("lenet-bn")
	r.Epochs, r.Kernels = 2, "fma"
	r.SetModel(m.Model)
	if err := r.SetData(ctx, src, val); err != nil {
		t.Fatal(err)
	}
	r.SetNumbers(m.Model, src, val, "")
	var devices []parallel.Member
	for _, name := range []string{"cpu:0", "cpu:1"} {
		d, err := cpu.Provider{}.Open(ctx, device.DefaultID, device.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		devices = append(devices, parallel.Member{Name: name, Device: d})
	}
	r.Classes = recipe.NumberedClasses(devices)
	s, err := train.New(ctx, r, m.Model, train.Config{Train: src, Validation: val, Devices: devices})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	template, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := serialize.WriteModel(filepath.Join(t.TempDir(), "glyphs.bnm"), template)
	if err != nil {
		t.Fatal(err)
	}
	if sum != string(want[1]) {
		t.Errorf("the session gives %s here, README says %s", sum, want[1])
	}
}

// glyphs opens the data set that README uses.
func glyphs(t *testing.T, split data.Split) data.Source {
	src, err := data.Open(t.Context(), "glyphs", data.Options{Split: split})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}
