package train

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// poisoner is a device that puts a value into one row of an output, for example the moments of a replica. It
// does so from a given run of a function on.
type poisoner struct {
	device.Device
	function                   string
	first, output, row, column int
	value                      float64
	runs                       int
}

func (p *poisoner) Load(ctx context.Context, prog *graph.Program, c device.Capacity) (
	device.Executable, error) {
	exe, err := p.Device.Load(ctx, prog, c)
	return &poisonerExe{exe, p}, err
}

type poisonerExe struct {
	device.Executable
	p *poisoner
}

func (e *poisonerExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	out, err := e.Executable.Run(ctx, s)
	if s.Function == e.p.function && err == nil {
		if e.p.runs++; e.p.runs >= e.p.first {
			if m := out.Outputs[e.p.output].Rows(e.p.row, e.p.row+1); m.DType == tensor.F64 {
				m.F64()[e.p.column] = e.p.value
			} else {
				m.F32()[e.p.column] = float32(e.p.value)
			}
		}
	}
	return out, err
}

func TestPoisonedReplicaIsNamedAndNothingCommitted(t *testing.T) {
	b := newBench(t, 64)
	c := b.config(2) // of the four replicas ref:1 has 2 and 3
	c.Devices[1].Device = &poisoner{Device: c.Devices[1].Device, function: graph.Train, first: 3, output: 2,
		row: 1, column: 1 + 5, value: math.NaN()}
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Run(context.Background())
	for _, want := range []string{"step 3", "ref:1", "bn1", "replica 3", "channel 5", "nothing was committed"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want one that says %q", err, want)
		}
	}
	got, err := s.trainer.current(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if v := s.trainer.driver.Version(); v != 2 {
		t.Errorf("version %d after a refused third step, want 2", v)
	}
	if bad := notFinite(got); bad != "" {
		t.Errorf("%s is not finite", bad)
	}
}

func notFinite(state map[string]tensor.Tensor) string {
	for name, t := range state {
		for _, v := range t.F32() {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return name
			}
		}
	}
	return ""
}

// unevenRecipe has the numbers that turn Keras' running statistics into NaN: 1825 samples leave a last batch
// of one sample for two replicas.
func unevenRecipe(t *testing.T, model string) *bench {
	b := newBench(t, 1825)
	b.recipe.Model, b.recipe.Batch, b.recipe.Replicas, b.recipe.Epochs = model, 16, 2, 1
	return b
}

func TestUnevenBatchKeepsStatisticsFinite(t *testing.T) {
	tails := parallel.Tails()
	if testing.Short() {
		tails = tails[:1]
	}
	for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
		for _, tail := range tails {
			t.Run(fmt.Sprintf("%s/%s", mode, tail), func(t *testing.T) {
				b := unevenRecipe(t, "convolution")
				b.recipe.BN, b.recipe.Tail = mode, tail
				d, err := cpu.Provider{}.Open(context.Background(), device.DefaultID, device.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				c := Config{Train: b.source, Devices: []parallel.Member{{Name: "cpu", Device: d}}}
				s, err := New(context.Background(), &b.recipe, b.model(), c)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				m, err := s.Run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if bad := notFinite(m.State); bad != "" {
					t.Errorf("%s is not finite", bad)
				}
			})
		}
	}
}

func TestUnevenBatchIsRefusedWhereItCannotWork(t *testing.T) {
	b := unevenRecipe(t, "dense")
	b.recipe.BN = bn.Replica
	_, err := New(context.Background(), &b.recipe, b.model(), b.config(1))
	for _, want := range []string{"bn1", "replica 0", "tail"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want one that says %q", err, want)
		}
	}
}

// TestUnevenBatchWithRunningStatistics follows the advice of the error, and the run succeeds.
func TestUnevenBatchWithRunningStatistics(t *testing.T) {
	b := unevenRecipe(t, "dense")
	src, err := data.Open(t.Context(), "glyphs:33", data.Options{Split: data.Train})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	b.source, b.recipe.Data.Samples = src, 33
	b.recipe.BN, b.recipe.BNMin = bn.Replica, "running"
	want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
	if got := b.template(New(context.Background(), &b.recipe, b.model(), b.config(2))); got != want {
		t.Errorf("two devices give template %s, one %s", got, want)
	}
}

// Too few values are found before the first step, in full batches and in the tail.
func TestTooFewValues(t *testing.T) {
	for _, c := range []struct {
		samples int
		change  func(*recipe.Recipe)
		refused bool
	}{
		{16, func(*recipe.Recipe) {}, false}, {7, func(*recipe.Recipe) {}, true}, {8, func(*recipe.Recipe) {},
			false},
		{4, func(*recipe.Recipe) {}, true}, {20, func(*recipe.Recipe) {}, true}, {24, func(*recipe.Recipe) {},
			false},
		{20, func(r *recipe.Recipe) { r.Tail = parallel.Drop }, false},
		{20, func(r *recipe.Recipe) { r.BNMin = "running" }, false},
		{20, func(r *recipe.Recipe) { r.BN = bn.Sync }, false}, {17,
			func(r *recipe.Recipe) { r.BN = bn.Sync }, true},
		{20, func(r *recipe.Recipe) { r.Replicas = 2 }, false}, {40,
			func(r *recipe.Recipe) { r.Accumulate = 2 }, true},
		{48, func(r *recipe.Recipe) { r.Accumulate = 2 }, false},
		// One of these two runs ends before the tail, and the other ends with the tail.
		{20, func(r *recipe.Recipe) { r.Epochs, r.Steps = 0, 1 }, false},
		{20, func(r *recipe.Recipe) { r.Epochs, r.Steps = 0, 2 }, true},
		{7, func(r *recipe.Recipe) { r.Epochs, r.Steps = 0, 1 }, true},
		{17, func(r *recipe.Recipe) { r.BN, r.Epochs, r.Steps = bn.Sync, 0, 1 }, false},
		{17, func(r *recipe.Recipe) { r.BN, r.Epochs, r.Steps = bn.Sync, 0, 2 }, true},
	} {
		b := newBench(t, c.samples)
		b.recipe.BN = bn.Replica
		c.change(&b.recipe)
		_, err := newPlan(&b.recipe, b.model(), b.config(1))
		if (err != nil) != c.refused {
			t.Errorf("%d samples, %s: %v", c.samples, b.recipe.JSON(), err)
		}
	}
}
