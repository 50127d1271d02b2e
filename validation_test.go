package bnctl_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// folderOf writes a picture of 28 x 28 pixels for each name, with different greys.
func folderOf(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range names {
		writePicture(t, filepath.Join(dir, name), 28, 28, byte(10*i))
	}
	return dir
}

func writePicture(t *testing.T, path string, w, h int, grey byte) {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, w, h))
	for at := range m.Pix {
		m.Pix[at] = grey + byte(at%3)
	}
	m.Set(0, 0, color.Gray{Y: 255})
	var b bytes.Buffer
	err := errors.Join(png.Encode(&b, m), os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, b.Bytes(), 0o600))
	if err != nil {
		t.Fatal(err)
	}
}

// few is a recipe of one step.
func few(r *recipe.Recipe) {
	r.Epochs, r.Steps, r.Batch, r.Replicas, r.Schedule = 0, 1, 2, 1, "constant"
}

// prepare prepares a run of a few steps of mlp-bn.
func prepare(t *testing.T, o bnctl.TrainOptions) (*bnctl.Prepared, error) {
	t.Helper()
	r, err := bnctl.Open(t.Context(), o)
	if err != nil {
		return nil, err
	}
	t.Cleanup(r.Close)
	few(r.Recipe())
	return r.Prepare(t.Context())
}

// TestValidationPart checks that the part val of the data is preferred to the part test, and that the recipe
// records the part that a run is evaluated on.
func TestValidationPart(t *testing.T) {
	dir := folderOf(t, "train/a/1.png", "train/b/1.png", "Val/b/1.png", "test/a/1.png", "test/b/1.png")
	for _, c := range []struct {
		source string
		want   recipe.Data
	}{
		{"folder:" + dir, recipe.Data{Split: "val", Samples: 1}},
		{"folder:" + dir + "@val", recipe.Data{Split: "val", Samples: 1}},
		{"folder:" + dir + "@test", recipe.Data{Split: "test", Samples: 2}},
	} {
		r, err := prepare(t, bnctl.TrainOptions{Model: "mlp-bn", Data: "folder:" + dir, Validation: c.source})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Recipe.Validation
		if got.Split != c.want.Split || got.Samples != c.want.Samples || got.Classes != 2 {
			t.Errorf("%s: %+v, want %+v", c.source, got, c.want)
		}
	}
}

// TestSeenValidation checks that evaluation on training samples is refused, also if the caller passes both
// data sources.
func TestSeenValidation(t *testing.T) {
	flat := "folder:" + folderOf(t, "a/1.png", "b/1.png")
	own, err := data.Open(t.Context(), "glyphs:20", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	for name, o := range map[string]bnctl.TrainOptions{
		"a folder": {Data: flat, Validation: flat},
		"one part": {Data: "glyphs:30", Validation: "glyphs:20@train"},
		"own":      {Source: own, ValidationSource: own},
	} {
		o.Model = "mlp-bn"
		var p *problem.Error
		if _, err := prepare(t, o); !errors.As(err, &p) || p.Field != "val" || p.Advice == "" {
			t.Errorf("%s: %v, want a problem of val", name, err)
		}
	}
}

// TestResumedValidation checks that a resumed run is evaluated on the same samples as before. This also holds
// for a checkpoint of an old release, which preferred test to val, and recorded either as test.
func TestResumedValidation(t *testing.T) {
	three := "folder:" + folderOf(t, "train/a/1.png", "train/b/1.png", "val/b/1.png", "test/a/1.png")
	two := "folder:" + folderOf(t, "train/a/1.png", "train/b/1.png", "val/b/1.png")
	for _, c := range []struct{ source, recorded, part string }{
		{three, "folder@test", "test"}, {three, "folder@val", "val"}, {two, "folder@val", "test"},
	} {
		suffix := c.recorded[len("folder"):]
		k := trained(t, bnctl.TrainOptions{Model: "mlp-bn", Data: c.source, Validation: c.source + suffix})
		const val = `"validation":{"kind":"folder","split":"val"`
		k.Recipe = bytes.Replace(k.Recipe, []byte(val), []byte(strings.Replace(val, `"val"`, `"`+c.part+`"`, 1)), 1)
		path := filepath.Join(t.TempDir(), "k.bnc")
		if err := serialize.WriteCheckpoint(path, k); err != nil {
			t.Fatal(err)
		}
		r, err := prepare(t, bnctl.TrainOptions{Resume: path, Validation: c.source})
		if err != nil {
			t.Fatal(err)
		}
		was, err := recipe.Parse(k.Recipe)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Recipe.Validation; got != was.Validation || got.Split != c.part {
			t.Errorf("%s: goes on with %+v", c.part, got)
		}
	}
}

// trained trains for one step and returns the checkpoint.
func trained(t *testing.T, o bnctl.TrainOptions) *serialize.Checkpoint {
	t.Helper()
	o.Checkpoint, o.Fleet = filepath.Join(t.TempDir(), "c.bnc"), fleet.Options{Devices: "ref"}
	r, err := bnctl.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	few(r.Recipe())
	if _, err := r.Train(t.Context()); err != nil {
		t.Fatal(err)
	}
	k, err := serialize.ReadCheckpoint(o.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
