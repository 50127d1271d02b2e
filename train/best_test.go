package train

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// The template has the weights of the best epoch, which is not the last, or the last
// weights if the recipe requests them.
func TestTemplateIsTheBest(t *testing.T) {
	state := func(epochs int, save string) (*models.Model, []EpochDone) {
		b := newBench(t, 42)
		r := &b.recipe
		r.Epochs, r.Schedule, r.LR, r.Save, r.Validation = epochs, "constant", 1.5, save, r.Data
		var told []EpochDone
		c := b.config(1)
		c.Events = func(e Event) {
			if e, ok := e.(EpochDone); ok {
				told = append(told, e)
			}
		}
		s, err := New(context.Background(), r, b.model(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		m, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return m, told
	}
	const epochs = 5
	for _, save := range []string{"best:loss", "best:accuracy"} {
		got, told := state(epochs, save)
		best := 0
		for i, e := range told {
			by := map[string]bool{"best:loss": *e.ValLoss < *told[best].ValLoss,
				"best:accuracy": *e.ValAccuracy > *told[best].ValAccuracy}
			if by[save] {
				best = i
			}
		}
		if best == epochs-1 {
			t.Fatalf("%s: the last epoch is the best of %+v: the test shows nothing", save, told)
		}
		want, _ := state(best+1, "last")
		if name := differing(got.State, want.State); name != "" {
			t.Errorf("%s: %s is not that of epoch %d", save, name, best+1)
		}
		if b := got.Best; b == nil || b.Epoch != best+1 || "best:"+b.Figure != save {
			t.Errorf("%s: the template says that %+v is the best, which is epoch %d", save, b, best+1)
		}
		if want.Best != nil {
			t.Errorf("%s: a template of the last epoch says %+v", save, want.Best)
		}
	}
	last, _ := state(epochs, "last")
	if got, _ := state(epochs, "best:loss"); differing(got.State, last.State) == "" {
		t.Error("the last weights are those of the best epoch")
	}
}

// If a network from another program's file is trained further, its outputs have the types of the file.
func TestTemplateHasTheTypesOfTheFile(t *testing.T) {
	b := newBench(t, 42)
	m := b.model()
	want := []models.FileType{{Output: "class", DType: tensor.I64, Picks: m.Graph.Main.Outputs[0].Name}}
	m.FileTypes = want
	s, err := New(context.Background(), &b.recipe, m, b.config(1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Run(context.Background())
	if err != nil || !slices.Equal(typesOf(got), typesOf(m)) {
		t.Errorf("%v, error %v, want %v", typesOf(got), err, want)
	}
	more, err := models.WithClasses(m, 3)
	if err != nil || !slices.Equal(typesOf(more), typesOf(m)) {
		t.Errorf("with another head: %v, error %v", typesOf(more), err)
	}
}

// typesOf returns the outputs of m, each with its name and type.
func typesOf(m *models.Model) (all []string) {
	for _, o := range m.Outputs() {
		all = append(all, o.Name+" "+o.Type.DType.String())
	}
	return all
}

// A checkpoint holds the best state so far: a run that stops in a later epoch and is resumed has the
// template of a run that did not stop.
func TestBestGoesWithTheCheckpoint(t *testing.T) {
	b := newBench(t, 42)
	r := &b.recipe
	r.Epochs, r.Schedule, r.LR, r.Save, r.Validation = 5, "constant", 1.5, "best:loss", r.Data
	want := b.template(New(context.Background(), r, b.model(), b.config(1)))
	k := b.stopped(4*r.StepsPerEpoch() + 1)()
	if best := progress.BestOf(k); best == nil || best.Epoch < 1 || best.Epoch > 4 || best.Figure != "loss" ||
		best.Save != r.Save {
		t.Errorf("the checkpoint says that %+v is the best", best)
	}
	if best := progress.BestOf(b.stopped(1)()); best != nil {
		t.Errorf("before any evaluation %+v is the best", best)
	}
	if got := b.template(Resume(context.Background(), k, r, b.config(1))); got != want {
		t.Errorf("resumed: template %s, want %s", got, want)
	}
}

// clocked is a device with a configured training time, which may refuse to grow later.
type clocked struct {
	device.Device
	took  time.Duration
	stays bool
}

func (d *clocked) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := d.Device.Load(ctx, p, c)
	return &clockedExe{exe, d}, err
}

type clockedExe struct {
	device.Executable
	d *clocked
}

func (e *clockedExe) Grow(ctx context.Context, c device.Capacity) error {
	if e.d.stays && c.Replicas > 2 { // at the start the device holds two of the four replicas
		return errPlanted
	}
	return e.Executable.Grow(ctx, c)
}

func (e *clockedExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	o, err := e.Executable.Run(ctx, s)
	o.Took, o.Blocked = e.d.took+time.Millisecond, time.Millisecond
	return o, err
}

// Replicas move to the faster device at the end of an epoch, and the run reports it. An
// error while they move ends the run.
func TestMovesAreTold(t *testing.T) {
	b := newBench(t, 42)
	var placed []Placed
	c := b.config(2)
	slowed := func(c Config, stays bool) {
		for i, took := range []time.Duration{time.Millisecond, 10 * time.Millisecond} {
			c.Devices[i].Device = &clocked{c.Devices[i].Device, took, stays}
		}
	}
	slowed(c, false)
	c.Events = func(e Event) {
		switch e := e.(type) {
		case Placed:
			placed = append(placed, e)
		case EpochDone:
			if e.Epoch == 1 && (e.InputWait == 0 || e.SyncWait == 0) {
				t.Errorf("it waits %v for input, %v for others", e.InputWait, e.SyncWait)
			}
		}
	}
	want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
	if got := b.template(New(context.Background(), &b.recipe, b.model(), c)); got != want {
		t.Errorf("template %s, on one device %s", got, want)
	}
	if len(placed) == 0 || placed[0].Step != b.recipe.StepsPerEpoch() ||
		!slices.Equal(placed[0].Devices, []string{"ref:0", "ref:1"}) || !slices.Equal(placed[0].Replicas, []int{3, 1}) {
		t.Errorf("told %+v", placed)
	}
	c = b.config(2)
	slowed(c, true)
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); !errors.Is(err, errPlanted) {
		t.Errorf("a device that cannot grow: %v", err)
	}
}

// Without weights the loss of a step is unchanged. Weights that are all 1 give the same loss, up to the
// rounding of a mean.
func TestLossOfLabels(t *testing.T) {
	const labels = 49
	b := parallel.Batch{Rows: map[string]tensor.Tensor{losses.InputLabels: tensor.New(tensor.I32, labels)}}
	result := parallel.Result{Loss: 1, Counted: labels}
	if got := (&plan{}).perLabel(b, result).Loss; got != 1 {
		t.Errorf("without weights %v, want 1", got)
	}
	p, mean := &plan{classWeights: []float64{1}}, 1.0/labels
	if got := p.perLabel(b, result).Loss; got != float64(mean*labels) {
		t.Errorf("with weights of 1 %v", got)
	}
}

// A checkpoint holds the best epoch, whatever its recipe saves: its weights equal the
// weights of a run that ends with that epoch. Stripped, it is the template that the recipe
// defines, byte for byte.
func TestBestIsInEveryCheckpoint(t *testing.T) {
	run := func(epochs int, save string) (*models.Model, *serialize.Checkpoint) {
		b := newBench(t, 42)
		r := &b.recipe
		r.Optimizer, r.LR = "adam", 0.4 // the template does not store the tensors of adam
		r.Epochs, r.Schedule, r.Save, r.Validation = epochs, "constant", save, r.Data
		c := b.config(1)
		c.Checkpoint = filepath.Join(t.TempDir(), "run.bnc")
		s, err := New(context.Background(), r, b.model(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		m, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		done := s.Finished("m.bnm", "")
		ofBest := save != "last" || done.BestEpoch == epochs
		if (done.BestIn == c.Checkpoint) == done.OfBest || done.OfBest != ofBest {
			t.Errorf("%s, %d epochs: finished %+v", save, epochs, done)
		}
		k, err := serialize.ReadCheckpoint(c.Checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		return m, k
	}
	const epochs = 5
	for _, save := range []string{"last", "best:accuracy"} {
		m, k := run(epochs, save)
		got, removed, err := serialize.Strip(k)
		if err != nil {
			t.Fatal(err)
		}
		if name := differing(got.State, m.State); name != "" || !reflect.DeepEqual(got.Best, m.Best) {
			t.Errorf("%s: stripped, %s is another than in the template, or the best epoch: %+v, %+v", save, name,
				got.Best, m.Best)
		}
		if removed.Last != (save != "last") || slices.Contains(removed.Sets, serialize.SetBest) == removed.Last {
			t.Errorf("%s: removed %+v", save, removed)
		}
		best, _, err := serialize.StripBest(k)
		if err != nil {
			t.Fatal(err)
		}
		if best.Best == nil || best.Best.Epoch == epochs {
			t.Fatalf("%s: the best epoch is %+v: the test shows nothing", save, best.Best)
		}
		want, _ := run(best.Best.Epoch, "last")
		if name := differing(best.State, want.State); name != "" {
			t.Errorf("%s: %s is not that of epoch %d", save, name, best.Best.Epoch)
		}
		if last, _, err := serialize.StripLast(k); err != nil || differing(last.State, best.State) == "" {
			t.Errorf("%s: the last weights are those of the best epoch, or %v", save, err)
		}
		for name := range k.Set(serialize.SetBest).Tensors {
			if strings.HasPrefix(name, "adam.") {
				t.Errorf("%s: the best epoch has the optimizer's %s", save, name)
			}
		}
	}
}
