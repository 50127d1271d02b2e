package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/serialize"
)

// says returns the words that the text of an error lacks.
func says(err error, words ...string) (missing []string) {
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			missing = append(missing, w)
		}
	}
	return missing
}

// A finite variance that float32 does not hold is found before the step is committed, whichever way
// statistics and weights are kept.
func TestVarianceBeyondFloat32IsNotCommitted(t *testing.T) {
	for name, change := range ways() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 64)
			b.recipe.Model = "dense"
			change(&b.recipe)
			if b.recipe.BN == bn.Frozen {
				t.Skip("frozen statistics do not change")
			}
			c := b.config(2)
			c.Checkpoint, c.CheckpointEvery = filepath.Join(t.TempDir(), "run.bnc"), 1
			bad, row, first := 1, 1, 3 // of the four replicas ref:1 has 2 and 3
			if b.recipe.BNStats == bn.First {
				bad, row = 0, 0
			}
			if b.recipe.HasSeparateWeights() { // each replica has a batch of its rows
				row, first = 0, 5
			}
			p := &poisoner{Device: c.Devices[bad].Device, function: graph.Train, first: first, output: 2, row: row,
				value: 1e44}
			c.Devices[bad].Device = p
			s, err := New(context.Background(), &b.recipe, b.model(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			channels := s.plan.layers[0].Channels
			p.column = 1 + channels + 5
			_, err = s.Run(context.Background())
			want := []string{"bn1", "step ", "channel 5", "running variance", "replica ", "nothing was committed",
				fmt.Sprintf("ref:%d", bad)}
			if m := says(err, want...); m != nil {
				t.Errorf("err = %v, want one that says %q", err, m)
			}
			state, err := s.trainer.current(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if bad := notFinite(state); bad != "" {
				t.Errorf("%s is not finite", bad)
			}
			k, err := serialize.ReadCheckpoint(c.Checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			if !s.trainer.weights.atHost() && int(s.trainer.driver.Version()) != s.trainer.progress.Step {
				t.Errorf("version %d after %d steps", s.trainer.driver.Version(), s.trainer.progress.Step)
			}
			if bad := notFinite(k.State); bad != "" {
				t.Errorf("%s of the checkpoint is not finite", bad)
			}
		})
	}
}

// TestEstimateBeyondFloat32 has a variance beyond float32 at the end of a run that estimates its
// statistics again.
func TestEstimateBeyondFloat32(t *testing.T) {
	b := newBench(t, 64)
	b.recipe.BNPrecise = 32
	c := b.config(1)
	p := &poisoner{Device: c.Devices[0].Device, function: spmd.Estimate, first: 2, value: 1e44}
	c.Devices[0].Device = p
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p.column = 1 + s.plan.layers[0].Channels + 5
	m, err := s.Run(context.Background())
	if missing := says(err, "bn1", "channel 5", "running variance", "float32"); missing != nil || m != nil {
		t.Errorf("err = %v, want one that says %q", err, missing)
	}
}

// A validation loss that is not finite is reported as the problem.
func TestValidationLossThatIsNoNumber(t *testing.T) {
	b := newBench(t, 32)
	b.recipe.Epochs = 1
	c := b.config(1)
	c.Devices[0].Device = &poisoner{Device: c.Devices[0].Device, function: graph.Predict, first: 1,
		value: math.NaN()}
	var warning string
	c.Events = func(e Event) {
		if e, ok := e.(EpochDone); ok {
			warning = e.Warning
			if e.Gap != nil {
				t.Errorf("a gap to what is no number: %+v", *e.Gap)
			}
		}
	}
	b.template(New(context.Background(), &b.recipe, b.model(), c))
	if m := says(errors.New(warning), "validation loss", "NaN", "lower lr"); m != nil {
		t.Errorf("warning %q does not say %q", warning, m)
	}
}

// spoiler is a device that finds NaN in the changes of an update, at one of its commits.
type spoiler struct {
	device.Device
	commits, at int
	unaware     bool // the device does not check its updates
}

func (d *spoiler) Info() device.Info {
	info := d.Device.Info()
	if d.unaware {
		info.Features = slices.DeleteFunc(slices.Clone(info.Features),
			func(f string) bool { return f == device.FiniteUpdates })
	}
	return info
}

func (d *spoiler) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := d.Device.Load(ctx, p, c)
	return &spoilerExe{exe, d, p}, err
}

type spoilerExe struct {
	device.Executable
	d *spoiler
	p *graph.Program
}

func (e *spoilerExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	e.d.commits++
	if e.d.commits != e.d.at {
		return e.Executable.Commit(ctx, v, h)
	}
	u := e.p.Function(graph.Commit).Updates[0]
	x, err := e.Read(ctx, u.State)
	if err != nil {
		return err
	}
	was := x.F32()[1]
	x.F32()[1] = float32(math.NaN())
	if !e.d.unaware {
		if err := e.Write(ctx, u.State, x); err != nil {
			return err
		}
		return e.Executable.Commit(ctx, v, h)
	}
	if err := e.Executable.Commit(ctx, v, h); err != nil { // otherwise the commit reports no error
		return err
	}
	if x, err = e.Read(ctx, u.State); err != nil {
		return err
	}
	if x.F32()[1]-was == 0 {
		return errors.New("the update changes nothing")
	}
	x.F32()[1] = float32(math.NaN())
	return e.Write(ctx, u.State, x)
}

// An update that is not finite is found in the step that makes it, in every way of keeping weights, whether
// the device checks its updates or not. No checkpoint contains the update.
func TestUpdateThatIsNotFiniteIsNotCommitted(t *testing.T) {
	for name, change := range ways() {
		for _, unaware := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, unaware %v", name, unaware), func(t *testing.T) {
				b := newBench(t, 64)
				change(&b.recipe)
				c := b.config(1)
				c.Checkpoint, c.CheckpointEvery = filepath.Join(t.TempDir(), "run.bnc"), 1
				at, step := 3, 3
				if b.recipe.HasSeparateWeights() { // each replica has a batch of its rows
					at = 2*b.recipe.StepReplicas() + 2
				}
				c.Devices[0].Device = &spoiler{Device: c.Devices[0].Device, at: at, unaware: unaware}
				s, err := New(context.Background(), &b.recipe, b.model(), c)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				_, err = s.Run(context.Background())
				want := []string{fmt.Sprintf("step %d", step), "ref:0", "not finite", "element 1 is NaN", "not committed",
					s.plan.program.Function(graph.Commit).Updates[0].State}
				if b.recipe.HasSeparateWeights() {
					want = append(want, "replica 1")
				}
				if m := says(err, want...); m != nil {
					t.Errorf("err = %v, want one that says %q", err, m)
				}
				if s.trainer.progress.Step != step-1 {
					t.Errorf("%d steps are done, want %d", s.trainer.progress.Step, step-1)
				}
				k, err := serialize.ReadCheckpoint(c.Checkpoint)
				if err != nil {
					t.Fatal(err)
				}
				if bad := notFinite(k.State); bad != "" {
					t.Errorf("%s of the checkpoint is not finite", bad)
				}
				if state, err := s.trainer.current(context.Background()); err == nil && notFinite(state) != "" {
					t.Error("the state can be read, and is not finite")
				}
			})
		}
	}
}
