package train

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// stopped trains until a step, and returns the checkpoint of that step.
func (b *bench) stopped(step int) func() *serialize.Checkpoint {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := b.config(1)
	c.Checkpoint = filepath.Join(b.t.TempDir(), "run.bnc")
	c.Events = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Step == step {
			cancel()
		}
	}
	s, err := New(ctx, &b.recipe, b.model(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(ctx); err != context.Canceled {
		b.t.Fatalf("stopped run returned %v", err)
	}
	return func() *serialize.Checkpoint {
		k, err := serialize.ReadCheckpoint(c.Checkpoint)
		if err != nil {
			b.t.Fatal(err)
		}
		return k
	}
}

// A checkpoint is refused if it lacks a required part, or if a part does not fit.
func TestDamagedCheckpointsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*recipe.Recipe){
		"mean":       func(r *recipe.Recipe) { r.BNStats = bn.Mean },
		"late":       func(r *recipe.Recipe) { r.WeightSync = "async:2" },
		"apart":      func(r *recipe.Recipe) { r.WeightSync = "periodic:3" },
		"posthoc":    func(r *recipe.Recipe) { r.BNUpdate = bn.PostHoc },
		"late, both": func(r *recipe.Recipe) { r.BNUpdate = "async:3" },
		"best":       func(r *recipe.Recipe) { r.Save, r.Validation, r.EMA = "best:loss", r.Data, 0.9 },
	} {
		b := newBench(t, 24)
		b.recipe.BN, b.recipe.Epochs = bn.Replica, 3
		change(&b.recipe)
		whole := b.stopped(4)
		refused := func(what string, damage func(*serialize.Checkpoint)) {
			k := whole()
			damage(k)
			s, err := Resume(context.Background(), k, &b.recipe, b.config(1))
			if err == nil {
				s.Close()
				t.Errorf("%s: a checkpoint is taken %s", name, what)
			}
		}
		refused("whose progress is broken", func(k *serialize.Checkpoint) { k.Progress = []byte("{") })
		refused("whose recipe is broken", func(k *serialize.Checkpoint) { k.Recipe = []byte("{") })
		for i, set := range whole().Sets {
			refused("without "+set.Name, func(k *serialize.Checkpoint) { k.Sets = slices.Delete(k.Sets, i, i+1) })
			one := slices.Sorted(maps.Keys(set.Tensors))[0]
			refused("with another shape in "+set.Name, func(k *serialize.Checkpoint) {
				k.Sets[i].Tensors[one] = tensor.New(tensor.F32, 1)
			})
			refused("without a part of "+set.Name, func(k *serialize.Checkpoint) { delete(k.Sets[i].Tensors, one) })
		}
		for attachment := range whole().Attachments {
			refused("without "+attachment, func(k *serialize.Checkpoint) { delete(k.Attachments, attachment) })
		}
	}
	if _, err := Resume(context.Background(), nil, &recipe.Recipe{}, Config{}); err == nil {
		t.Error("no checkpoint is taken")
	}
	if _, err := New(context.Background(), &recipe.Recipe{}, nil, Config{}); err == nil {
		t.Error("no model is taken")
	}
}

// PathsOf returns the paths of the data.
func TestPathsOf(t *testing.T) {
	b := newBench(t, 24)
	want := progress.Paths{Data: "a", Validation: "b", Output: "c"}
	path := filepath.Join(t.TempDir(), "run.bnc")
	b.told(func(c *Config) { c.Checkpoint, c.Paths = path, want })
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := progress.PathsOf(k); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	k.Progress = []byte("{")
	if _, err := progress.PathsOf(k); err == nil {
		t.Error("a broken progress has paths")
	}
}

// abandoned trains with a device that is lost for good after some calls.
func (b *bench) abandoned(every int64, change func(*Config)) error {
	c, _ := b.briefly(every)
	c.Reopen = nil
	change(&c)
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Run(context.Background())
	return err
}

// A run that has lost all devices writes a checkpoint, if it has a file for it, and advises
// how to continue.
func TestAbandonedRunLeavesACheckpoint(t *testing.T) {
	for name, change := range map[string]func(*recipe.Recipe){
		"allreduce": func(*recipe.Recipe) {},
		"apart":     func(r *recipe.Recipe) { r.BN, r.WeightSync = bn.Replica, "periodic:9" }, // the host has all state
	} {
		b := newBench(t, 24)
		change(&b.recipe)
		path := filepath.Join(t.TempDir(), "run.bnc")
		calls := map[string]int64{"allreduce": 8, "apart": 20}[name]
		err := b.abandoned(calls, func(c *Config) { c.Checkpoint = path })
		if !errors.Is(err, parallel.NoDevices) || !strings.Contains(err.Error(), "continue with resume "+path) {
			t.Errorf("%s: %v", name, err)
		}
		k, err := serialize.ReadCheckpoint(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := progress.Read(k)
		if err != nil || p.Progress.Step == 0 && name == "apart" {
			t.Errorf("%s: step %d, %v", name, p.Progress.Step, err)
		}
		want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
		if got := b.template(Resume(context.Background(), k, &b.recipe, b.config(2))); got != want {
			t.Errorf("%s: resumed: template %s, undisturbed %s", name, got, want)
		}
	}
	b := newBench(t, 24)
	if err := b.abandoned(8, func(*Config) {}); !errors.Is(err, parallel.NoDevices) ||
		strings.Contains(err.Error(), "continue with") {
		t.Errorf("without a file: %v", err)
	}
	gone := filepath.Join(t.TempDir(), "none", "run.bnc")
	err := b.abandoned(8, func(c *Config) { c.Checkpoint, c.CheckpointEvery = gone, 99 })
	if !errors.Is(err, parallel.NoDevices) || !strings.Contains(err.Error(), "could not be written") {
		t.Errorf("with a file that cannot be: %v", err)
	}
}

// A checkpoint that cannot be written ends the run, and an interrupted run reports the
// failure.
func TestCheckpointThatCannotBeWritten(t *testing.T) {
	b := newBench(t, 24)
	c := b.config(1)
	c.Checkpoint = filepath.Join(t.TempDir(), "none", "run.bnc")
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s, err = New(context.Background(), &b.recipe, b.model(), c); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Run(ctx)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "could not be written") {
		t.Errorf("%v", err)
	}
}

// lender is a fleet.
type lender struct {
	Fleet
	devices      []parallel.Member
	precision    string
	refuses, end error
	given        int // number of times that the devices were given back
}

func (f *lender) Lend() ([]parallel.Member, func(), error) {
	return f.devices, func() { f.given++ }, f.refuses
}
func (f *lender) Err() error                    { return f.end }
func (f *lender) Precision() string             { return f.precision }
func (f *lender) Rendezvous() device.Rendezvous { return nil }
func (f *lender) Joins() <-chan parallel.Member { return nil }
func (f *lender) Reopen(context.Context, string) (device.Device, error) {
	return nil, errPlanted
}

// Devices of a fleet are given back, however the run ends.
func TestFleetLends(t *testing.T) {
	b := newBench(t, 24)
	for _, c := range []struct {
		name   string
		change func(*lender)
		want   error
		back   int
	}{
		{"a fleet", func(*lender) {}, nil, 1},
		{"at another precision", func(f *lender) { f.precision = "bf16" }, nil, 0},
		{"that is lent", func(f *lender) { f.refuses = errPlanted }, errPlanted, 0},
		{"without devices", func(f *lender) { f.devices = nil }, nil, 1},
		{"of too many", func(f *lender) { f.devices = b.config(5).Devices }, nil, 1},
		{"of as many as replicas", func(f *lender) { f.devices = b.config(4).Devices }, nil, 1},
		{"that is closed", func(f *lender) {
			f.end = parallel.FleetClosed
			f.devices[0].Device = &mistaken{f.devices[0].Device, &mistakes{at: 9}}
		}, parallel.FleetClosed, 1},
		{"whose device fails", func(f *lender) {
			f.devices[0].Device = &mistaken{f.devices[0].Device, &mistakes{at: 9}}
		}, errPlanted, 1},
	} {
		config := b.config(2)
		f := &lender{devices: config.Devices, precision: "f32"}
		config.Devices, config.Fleet = nil, f
		c.change(f)
		s, err := New(context.Background(), &b.recipe, b.model(), config)
		if err == nil {
			_, err = s.Run(context.Background())
			err = errors.Join(err, s.Close(), s.Close()) // closing twice is legal
		}
		ok := c.name == "a fleet" || c.name == "of as many as replicas"
		if ok != (err == nil) || c.want != nil && !errors.Is(err, c.want) || f.given != c.back {
			t.Errorf("%s: %v, given back %d times", c.name, err, f.given)
		}
		if f.end == nil && errors.Is(err, parallel.FleetClosed) {
			t.Errorf("%s: %v, and it is not closed", c.name, err)
		}
	}
}
