package train

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/serialize"
)

func TestSetModel(t *testing.T) {
	m := written(t, pixelGraph)
	m.Preprocess.Interpolation = "bicubic"
	var r, again Recipe
	r.SetModel(m)
	if r.Model != "pixels" || r.Interpolation != "bicubic" || len(r.Graph) != 64 {
		t.Errorf("model %q, interpolation %q, graph %q", r.Model, r.Interpolation, r.Graph)
	}
	again.SetModel(written(t, tableGraph))
	if again.Graph == r.Graph || again.Interpolation != "" {
		t.Errorf("two graphs have the fingerprint %s", r.Graph)
	}
}

// files is a source of samples in picture files.
func files(decoder string, exif bool, classes ...string) *painted {
	return &painted{info: data.Info{Kind: "folder", Split: data.Train, Len: 5, Decoder: decoder, EXIF: exif,
		Classes: classes, Skipped: make([]data.Bad, 2)}}
}

func TestSetData(t *testing.T) {
	want := Data{Kind: "folder", Split: "train", Samples: 5, Classes: 2, Skipped: 2}
	for _, c := range []struct {
		training, validation *painted
		exif                 string // before
		decoder, becomes     string
	}{
		{files("2", true, "a", "b"), nil, "", "2", "apply"},
		{files("2", false, "a", "b"), nil, "", "2", ""}, // as in recipes of old
		{files("2", false, "a", "b"), nil, "apply", "2", "ignore"},
		{files("2", true, "a", "b"), nil, "ignore", "2", "apply"},
		{files("2", true, "a", "b"), files("2", true, "a", "b"), "", "2", "apply"},
		{files("", false, "a", "b"), nil, "", "", ""},
		{files("", false, "a", "b"), files("2", true, "a", "b"), "", "2", "apply"},
	} {
		r := DefaultRecipe("lenet-bn")
		r.EXIF, r.Decoder, r.Validation, r.Save = c.exif, "1", Data{Kind: "old"}, "best"
		var validation data.Source
		if c.validation != nil {
			validation = c.validation
		}
		if err := r.SetData(t.Context(), c.training, validation); err != nil {
			t.Fatal(err)
		}
		if r.Data != want || r.Decoder != c.decoder || r.EXIF != c.becomes || r.Save != "best:accuracy" {
			t.Errorf("%+v: data %+v, decoder %q, EXIF %q, save %s", c, r.Data, r.Decoder, r.EXIF, r.Save)
		}
		if wants := map[bool]Data{true: want}[c.validation != nil]; r.Validation != wants {
			t.Errorf("validation %+v, want %+v", r.Validation, wants)
		}
	}
	r := DefaultRecipe("lenet-bn")
	if err := r.SetData(t.Context(), files("", false, "a", "b"), files("", false, "a", "c")); err == nil ||
		!strings.Contains(err.Error(), "classes differ") {
		t.Errorf("other classes: %v", err)
	}
	if err := r.SetData(t.Context(), nil, nil); err == nil {
		t.Error("no data was taken")
	}
}

// unreadable is data that cannot be read.
type unreadable struct{ *painted }

func (unreadable) Fingerprint(context.Context) (string, error) { return "", errPlanted }
func (unreadable) Label(context.Context, int) ([]int32, error) { return nil, errPlanted }

func TestSetDataOfUnreadableData(t *testing.T) {
	sound := paint(2, []int32{0, 1})
	broken := unreadable{sound}
	r := DefaultRecipe("unet-bn")
	for _, sources := range [][2]data.Source{{broken, nil}, {sound, broken}} {
		if err := r.SetData(t.Context(), sources[0], sources[1]); !errors.Is(err, errPlanted) {
			t.Errorf("%v, want the error of the data", err)
		}
	}
	if text, err := medianFrequencies(t.Context(), broken); !errors.Is(err, errPlanted) {
		t.Errorf("weights %s, %v", text, err)
	}
}

// checkpointOf trains for an epoch and returns the path of its checkpoint.
func (b *bench) checkpointOf() string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "run.bnc")
	b.told(func(c *Config) { c.Checkpoint = path })
	return path
}

func TestReplaceable(t *testing.T) {
	b := newBench(t, 42)
	b.recipe.Epochs = 1
	path := b.checkpointOf()
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	k.Recipe = []byte(`{"later":1}`)
	unknown := filepath.Join(t.TempDir(), "later.bnc")
	if err := serialize.WriteCheckpoint(unknown, k); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		change func(*Recipe)
		want   string
	}{
		{"", func(*Recipe) {}, ""},
		{filepath.Join(t.TempDir(), "none"), func(*Recipe) {}, ""},
		{path, func(*Recipe) {}, ""},
		{path, func(r *Recipe) { r.Kernels = "other" }, ""},
		{path, func(r *Recipe) { r.Seed = 8 }, "another run: seed is 8, was 7;"},
		{path, func(r *Recipe) { r.Seed, r.Batch = 8, 4 }, "seed is 8, was 7, and 1 more difference;"},
		{path, func(r *Recipe) { r.Seed, r.Batch, r.LR = 8, 4, 1 }, "and 2 more differences;"},
		{unknown, func(*Recipe) {}, "another run (recipe"},
		{"identity_test.go", func(*Recipe) {}, "not a checkpoint that this run could replace"},
	} {
		r := b.recipe
		c.change(&r)
		err := Replaceable(c.path, &r)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
}

// A checkpoint in the middle of a period has the distance of its replicas from their mean,
// which is computed here.
func TestLagOf(t *testing.T) {
	b := newSyncBench(t, "periodic:3")
	b.recipe.Epochs, b.recipe.Steps = 0, 5
	k, err := serialize.ReadCheckpoint(b.checkpointOf())
	if err != nil {
		t.Fatal(err)
	}
	lag, err := LagOf(k)
	if err != nil {
		t.Fatal(err)
	}
	want := Lag{Steps: 2, Replicas: 4}
	for r := range 4 {
		for name, own := range k.Set(serialize.WeightSet(r)).Tensors {
			if strings.HasPrefix(name, "velocity/") || strings.Contains(name, "running") {
				continue
			}
			for i, v := range own.F32() {
				if d := math.Abs(float64(v) - float64(k.State[name].F32()[i])); d > want.Largest {
					want.Largest, want.Tensor = d, name
				}
			}
		}
	}
	if *lag != want || want.Largest == 0 {
		t.Errorf("%+v, want %+v", *lag, want)
	}
	recipe, progress := k.Recipe, k.Progress
	k.Recipe = []byte("{")
	if _, err := LagOf(k); err == nil {
		t.Error("a broken recipe has a lag")
	}
	k.Recipe, k.Progress = recipe, []byte("{")
	if _, err := LagOf(k); err == nil {
		t.Error("a broken progress has a lag")
	}
	k.Progress = progress
	own := k.Set(serialize.WeightSet(3)).Tensors
	own["fc3.bias"] = own["fc3.bias"].Rows(0, 9)
	_, err = LagOf(k)
	if err == nil || !strings.Contains(err.Error(), "fc3.bias is f32[9], the model's is f32[10]") {
		t.Errorf("a replica of another shape: %v", err)
	}
	k.Sets = nil
	if lag, err := LagOf(k); lag != nil || err != nil {
		t.Errorf("replicas without weights of their own: %v, %v", lag, err)
	}
}
