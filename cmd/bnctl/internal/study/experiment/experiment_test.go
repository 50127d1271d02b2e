package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	os.Exit(m.Run())
}

// small returns the options of a study that lasts about a second.
func small(t *testing.T) Options {
	t.Helper()
	open := func(spec string, split data.Split) data.Source {
		src, err := data.Open(t.Context(), spec, data.Options{Split: split})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		return src
	}
	src, val := open("glyphs:64", data.Train), open("glyphs:32", data.Test)
	m, err := fit.Zoo("mlp-bn", src.Info(), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := recipe.Default(m.Architecture)
	r.Batch, r.Epochs = 16, 1
	r.Data, r.Validation = recipe.Data{Samples: src.Info().Len}, recipe.Data{Samples: val.Info().Len}
	return Options{Recipe: r, Model: m, Data: src, Validation: val,
		Fleet: fleet.Options{Devices: "cpu", Threads: 1}, Single: "cpu", Seeds: []uint64{1}, PerReplica: []int{4}, Measure: []string{Training}, Async: 4,
		Precise: 32, SamplingSamples: 32, SpeedSteps: 1, Folder: t.TempDir()}
}

// If a study is stopped, it can be continued from its folder. The results are the same as the ones of an
// undisturbed study.
func TestGoesOn(t *testing.T) {
	whole, err := Run(t.Context(), small(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Runs) != 3 {
		t.Fatalf("%d runs, want one on a single device and two others", len(whole.Runs))
	}
	if hour := whole.InAnHour(); len(whole.Durations) != 3 || !strings.HasPrefix(hour.Answer, "All 3 together") {
		t.Errorf("%v, %v: want how long each takes", whole.Durations, hour)
	}
	o := small(t)
	ctx, stop := context.WithCancel(t.Context())
	made := 0
	o.Found = func(v any) {
		if _, ok := v.(*study.Run); ok {
			if made++; made == 1 {
				stop()
			}
		}
	}
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want that it was stopped", err)
	}
	before, err := Read(o.Folder)
	if err != nil || len(before.Runs) != 1 {
		t.Fatalf("%v, %v: want the run that was made", before, err)
	}
	again, err := Run(t.Context(), o)
	if err != nil || made != 3 {
		t.Fatalf("%d runs made, %v, want three in all", made, err)
	}
	for i, r := range again.Runs {
		want := whole.Runs[i]
		if r.SHA256 != want.SHA256 || r.Recipe != want.Recipe || !slices.Equal(r.Scores, want.Scores) {
			t.Errorf("run %d: %+v, undisturbed %+v", i, r, want)
		}
	}
	page, err := Write(o.Folder, again)
	if _, statErr := os.Stat(page); err != nil || statErr != nil {
		t.Errorf("page %s: %v, %v", page, err, statErr)
	}
}

// Statistics can be frozen after the first epochs. Then a second training continues with the weights of these
// epochs.
func TestFrozenAfter(t *testing.T) {
	o := small(t)
	o.Arms, o.FrozenAfter, o.Recipe.Epochs = []Arm{study.Frozen}, 1, 3
	found, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Runs) != 1 || len(found.Refused) != 0 {
		t.Fatalf("%d runs, %v refused, want one run", len(found.Runs), found.Refused)
	}
	var epochs []int
	for _, e := range found.Runs[0].Epochs {
		epochs = append(epochs, e.Number)
	}
	if !slices.Equal(epochs, []int{1, 2, 3}) {
		t.Errorf("epochs %v, want 1 to 3", epochs)
	}
	first := small(t)
	first.Arms, first.Recipe.Epochs = []Arm{study.Single}, 1
	before, err := Run(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := found.Runs[0].Epochs[0], before.Runs[0].Epochs[0]; got.Loss != want.Loss {
		t.Errorf("the loss after the first epoch is %g, and that of a training of one epoch %g", got.Loss, want.Loss)
	}
}

// The number of epochs before statistics are frozen has no effect on a study without frozen statistics.
func TestFrozenAfterWithoutFrozen(t *testing.T) {
	o := small(t)
	o.Arms, o.FrozenAfter = []Arm{study.Sync}, 5
	found, err := Run(t.Context(), o)
	if err != nil || len(found.Runs) != 1 {
		t.Errorf("%v, %v: want one run", found, err)
	}
}

// A study is not written into the folder of another study.
func TestOtherStudyIsRefused(t *testing.T) {
	o := small(t)
	o.Measure = []string{Sampling}
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Recipe.LR *= 2
	var p *problem.Error
	if _, err := Run(t.Context(), o); !errors.As(err, &p) || p.Field != "output" {
		t.Errorf("%v, want a problem with the folder", err)
	}
	if err := os.WriteFile(filepath.Join(o.Folder, results), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(o.Folder); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that the results are no JSON", err)
	}
}

// Invalid options are problems that name the option. Nothing is written.
func TestMistakes(t *testing.T) {
	for field, change := range map[string]func(*Options){
		"model":            func(o *Options) { o.Recipe = nil },
		"data":             func(o *Options) { o.Data = nil },
		"val":              func(o *Options) { o.Validation = nil },
		"precise":          func(o *Options) { o.Precise = 1 },
		"sampling-samples": func(o *Options) { o.SamplingSamples = 15 },
		"speed-steps":      func(o *Options) { o.SpeedSteps = 0 },
		"async":            func(o *Options) { o.Async = 99 },
		"measure":          func(o *Options) { o.Measure = []string{"sped"} },
		"seeds":            func(o *Options) { o.Seeds = []uint64{1, 1} },
		"per-replica":      func(o *Options) { o.PerReplica = nil },
		"batch":            func(o *Options) { o.PerReplica = []int{3} },
		"frozen-after":     func(o *Options) { o.Arms, o.FrozenAfter = []Arm{study.Frozen}, 1 },
		"accumulate":       func(o *Options) { o.Recipe.Accumulate = 2 },
		"lr":               func(o *Options) { o.Recipe.LR = -1 },
		"devices":          func(o *Options) { o.Fleet.Devices = "0xcpu" },
	} {
		o := small(t)
		change(&o)
		_, err := Run(t.Context(), o)
		var p *problem.Error
		if !errors.As(err, &p) || p.Field != field {
			t.Errorf("%s: %v, want a problem with it", field, err)
		}
		if list, err := os.ReadDir(o.Folder); err != nil || len(list) > 0 {
			t.Errorf("%s: %v is written, %v", field, list, err)
		}
	}
}
