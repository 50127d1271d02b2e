package bnctl_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// wants checks that err is a problem with the option named field, and that it has advice. what describes the
// mistake.
func wants(t *testing.T, what, field string, err error) {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) || p.Field != field || p.Text == "" || p.Advice == "" {
		t.Errorf("%s: %v, want a problem of %s with advice", what, err, field)
	}
}

// alone makes the test fail if goroutines still run when the test ends.
func alone(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
			if time.Now().After(end) {
				stacks := make([]byte, 1<<16)
				t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before,
					stacks[:runtime.Stack(stacks, true)])
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
}

func glyphs(t *testing.T, n string) data.Source {
	t.Helper()
	src, err := data.Open(t.Context(), "glyphs:"+n, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// prepared returns a recipe for a few digits, and its model with weights.
func prepared(t *testing.T, src data.Source) (*recipe.Recipe, *models.Model) {
	t.Helper()
	m, err := modelfile.Start("mlp-bn", src.Info(), modelfile.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := recipe.Default("mlp-bn")
	r.Batch, r.Replicas, r.Epochs = 16, 2, 1
	r.SetModel(m.Model)
	if err := r.SetData(t.Context(), src, nil); err != nil {
		t.Fatal(err)
	}
	return r, m.Model
}

// trainAs trains with a recipe that change has changed.
func trainAs(ctx context.Context, o bnctl.TrainOptions, change func(*recipe.Recipe)) error {
	run, err := bnctl.Open(ctx, o)
	if err != nil {
		return err
	}
	defer run.Close()
	change(run.Recipe())
	_, err = run.Train(ctx)
	return err
}

// The error for an invalid option is a problem that names the option.
func TestMistakes(t *testing.T) {
	alone(t)
	src := glyphs(t, "32")
	for _, c := range []struct {
		what, field string
		change      func(*bnctl.TrainOptions, *recipe.Recipe)
	}{
		{"no data", "data", func(o *bnctl.TrainOptions, _ *recipe.Recipe) { o.Source = nil }},
		{"zero recipe", "recipe", func(_ *bnctl.TrainOptions, r *recipe.Recipe) { *r = recipe.Recipe{} }},
		{"no model", "model", func(o *bnctl.TrainOptions, _ *recipe.Recipe) { o.Model = "" }},
		{"a batch below the replicas", "batch", func(_ *bnctl.TrainOptions, r *recipe.Recipe) { r.Batch = 4 }},
		{"frozen, and new", "bn", func(_ *bnctl.TrainOptions, r *recipe.Recipe) { r.BN = "frozen" }},
		{"too few classes", "data", func(o *bnctl.TrainOptions, _ *recipe.Recipe) { o.Start.Classes = 3 }},
		{"more devices than replicas", "devices",
			func(o *bnctl.TrainOptions, _ *recipe.Recipe) { o.Fleet.Devices = "9xref" }},
	} {
		o := bnctl.TrainOptions{Model: "mlp-bn", Source: src}
		o.Fleet.Devices = "ref"
		c.change(&o, &recipe.Recipe{})
		err := trainAs(t.Context(), o, func(r *recipe.Recipe) { c.change(&bnctl.TrainOptions{}, r) })
		wants(t, c.what, c.field, err)
	}
	r, m := prepared(t, src)
	for _, c := range []struct {
		what, field string
		r           *recipe.Recipe
		m           *models.Model
		config      train.Config
	}{
		{"nil recipe", "recipe", nil, m, train.Config{Train: src}},
		{"nil model", "model", r, nil, train.Config{Train: src}},
		{"nil source", "data", r, m, train.Config{}},
		{"other data", "data", r, m, train.Config{Train: glyphs(t, "40")}},
		{"no device", "devices", r, m, train.Config{Train: src}},
	} {
		_, err := train.New(t.Context(), c.r, c.m, c.config)
		wants(t, c.what, c.field, err)
	}
	_, err := train.Resume(t.Context(), nil, r, train.Config{Train: src})
	wants(t, "no checkpoint", "resume", err)
	_, err = predict.Open(t.Context(), nil, predict.Options{Batch: 1})
	wants(t, "nothing to predict with", "model", err)
}

// A number of samples that is larger than the data, and an option without effect in a resumed run, are also
// refused.
func TestMistakesOfDataAndResume(t *testing.T) {
	src, checkpoint := glyphs(t, "32"), filepath.Join(t.TempDir(), "run.bnc")
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:32", Checkpoint: checkpoint,
		Fleet: fleet.Options{Devices: "ref"}}
	if err := trainAs(t.Context(), o, func(r *recipe.Recipe) { r.Steps, r.Epochs = 1, 0 }); err != nil {
		t.Fatal(err)
	}
	resumed := bnctl.TrainOptions{Resume: checkpoint}
	resumed.Start.Classes = 3
	for want, o := range map[string]bnctl.TrainOptions{
		"skip-bad":                             {Model: "mlp-bn", Data: "glyphs:32", SkipBad: "-3"},
		"samples":                              {Model: "mlp-bn", Source: src, Samples: 33},
		"val-samples":                          {Model: "mlp-bn", Data: "glyphs:32", Validation: "glyphs:9", ValidationSamples: 10},
		"classes says how a new model is made": resumed,
	} {
		err := trainAs(t.Context(), o, func(*recipe.Recipe) {})
		if !problem.IsMisuse(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want a mistake of %s", err, want)
		}
	}
}

// A Run can train only once.
func TestTrainsOnce(t *testing.T) {
	alone(t)
	run, err := bnctl.Open(t.Context(), bnctl.TrainOptions{Model: "mlp-bn", Source: glyphs(t, "32"),
		Fleet: fleet.Options{Devices: "ref"}})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	run.Recipe().Steps, run.Recipe().Epochs = 1, 0
	if _, err := run.Train(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Train(t.Context()); !problem.IsMisuse(err) {
		t.Errorf("the second time: %v, want a mistake", err)
	}
	run.Close()
}

// A fleet, a set of opened devices, serves one run at a time, at the precision that it was opened with, until
// it is closed.
func TestFleetServesOneRun(t *testing.T) {
	alone(t)
	src := glyphs(t, "32")
	r, m := prepared(t, src)
	f, err := fleet.Open(t.Context(), fleet.Options{Devices: "2xref"})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(r *recipe.Recipe) (*train.Session, error) {
		return train.New(t.Context(), r, m, train.Config{Train: src, Fleet: f})
	}
	other := *r
	other.Precision = "bf16"
	_, err = begin(&other)
	wants(t, "another precision", "precision", err)
	other = *r
	other.Replicas = 1
	_, err = begin(&other)
	wants(t, "fewer replicas than devices", "devices", err)

	s, err := begin(r)
	if err != nil {
		t.Fatal(err)
	}
	_, err = begin(r)
	wants(t, "two runs at once", "devices", err)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	_, err = s.Run(t.Context())
	wants(t, "a closed session", "session", err)
	if s, err = begin(r); err != nil {
		t.Fatalf("after the first run: %v", err)
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	_, err = begin(r)
	wants(t, "a closed fleet", "devices", err)
}

// If the fleet, the set of devices, is closed during a run, the run ends at once. It does not wait for the
// devices to come back, as it does when devices are lost.
func TestFleetClosedUnderARun(t *testing.T) {
	for _, devices := range []string{"2xref", "2xcpu"} {
		t.Run(devices, func(t *testing.T) {
			alone(t)
			src := glyphs(t, "64")
			r, m := prepared(t, src)
			r.Epochs = 1000
			f, err := fleet.Open(t.Context(), fleet.Options{Devices: devices, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			var closed time.Time
			var end sync.WaitGroup
			defer end.Wait()
			s, err := train.New(t.Context(), r, m, train.Config{Train: src, Fleet: f, Events: func(e train.Event) {
				if step, ok := e.(train.Stepped); !ok || step.Step != 3 {
					return
				}
				closed = time.Now()
				end.Go(func() { f.Close() })
				if devices == "2xref" {
					end.Wait() // the two processes of 2xcpu are closed in the middle of a step
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Run(t.Context())
			wants(t, "a fleet closed under a run", "devices", err)
			if took := time.Since(closed); took > 10*time.Second {
				t.Errorf("the run ended %v after its fleet", took)
			}
			s.Close()
		})
	}
}

// slow is a data source that calls a function when its first fingerprint or first sample is requested.
type slow struct {
	data.Source
	fingerprint, sample func()
}

func (s slow) Fingerprint(ctx context.Context) (string, error) {
	s.fingerprint()
	return s.Source.Fingerprint(ctx)
}

func (s slow) Sample(ctx context.Context, i int) (tensor.Tensor, error) {
	s.sample()
	return s.Source.Sample(ctx, i)
}

// A run can be stopped in any phase. It then returns the cause and leaves no goroutine running.
func TestStoppedInEveryPhase(t *testing.T) {
	src := glyphs(t, "64")
	enough := errors.New("enough")
	for _, phase := range []string{"before", "fingerprint", "sample", "start", "step", "epoch", "checkpoint"} {
		t.Run(phase, func(t *testing.T) {
			alone(t)
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			at := func(here string) {
				if here == phase {
					stop(enough)
				}
			}
			at("before")
			o := bnctl.TrainOptions{Model: "mlp-bn", Output: filepath.Join(t.TempDir(), "run.bnm")}
			o.Fleet.Devices = "2xref"
			o.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
				if e, ok := e.(train.Event); ok {
					at(e.Event())
				}
				return nil
			})
			o.Source = slow{src, func() { at("fingerprint") }, func() { at("sample") }}
			err := trainAs(ctx, o, func(r *recipe.Recipe) { r.Batch, r.Epochs = 16, 2 })
			if !errors.Is(err, enough) {
				t.Errorf("%v, want the cause", err)
			}
		})
	}
}

// If the devices are processes, these also end, in whatever phase a run is stopped.
func TestStoppedAtAnyTime(t *testing.T) {
	run := func(ctx context.Context) error {
		o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:64"}
		o.Fleet.Devices, o.Fleet.Threads = "2xcpu", 1
		return trainAs(ctx, o, func(r *recipe.Recipe) { r.Epochs = 2 })
	}
	began := time.Now()
	if err := run(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	const parts = 8
	for k := range parts {
		alone(t)
		ctx, stop := context.WithTimeout(t.Context(), whole*time.Duration(k)/parts)
		if err := run(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stopped at %d/%d: %v", k, parts, err)
		}
		stop()
	}
}

// Predictions can be cancelled at any time.
func TestPredictionsAreLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.bnm")
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:64", Output: path}
	if err := trainAs(t.Context(), o, func(r *recipe.Recipe) { r.Epochs = 1 }); err != nil {
		t.Fatal(err)
	}
	alone(t)
	v, err := modelfile.OpenReadOnly(path, modelfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	src, err := predict.OpenInputs(t.Context(), v.Model, []string{"glyphs:9"}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	on := fleet.Options{Devices: "2xref"}
	p, err := predict.Open(t.Context(), src.Model, predict.Options{Fleet: on, Batch: 2, Samples: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	left, heard := errors.New("left"), 0
	hear := func(int, []tensor.Tensor) error {
		if heard++; heard == 3 {
			return left
		}
		return nil
	}
	if _, err := p.All(t.Context(), src.Source, predict.Reading{}, hear); err != left || heard != 3 {
		t.Errorf("%d predictions, then %v; want 3, then %v", heard, err, left)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.All(ctx, src.Source, predict.Reading{}, hear); err == nil || heard != 3 {
		t.Errorf("%d predictions and no error after the end of the context", heard)
	}
}
