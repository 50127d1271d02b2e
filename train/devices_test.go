package train

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// sluggish is a device with random delays.
type sluggish struct {
	device.Device
	pace *rand.Rand
	most time.Duration
}

func (d *sluggish) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := d.Device.Load(ctx, p, c)
	return &sluggishExe{exe, d}, err
}

type sluggishExe struct {
	device.Executable
	d *sluggish
}

func (e *sluggishExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	time.Sleep(time.Duration(e.d.pace.Int64N(int64(e.d.most))))
	return e.Executable.Run(ctx, s)
}

// ways returns every way of keeping statistics, and every way of keeping weights together,
// with the change of the recipe for each.
func ways() map[string]func(*recipe.Recipe) {
	all := map[string]func(*recipe.Recipe){
		"sync":             func(r *recipe.Recipe) {},
		"sync, precise":    func(r *recipe.Recipe) { r.BNPrecise = 30 },
		"sync, template":   func(r *recipe.Recipe) { r.WeightSync = "template" },
		"sync, ema, adamw": func(r *recipe.Recipe) { r.EMA, r.EMAWarmup, r.Optimizer, r.LR = 0.9, true, "adamw", 0.01 },
		"sync, bf16":       func(r *recipe.Recipe) { r.Precision = "bf16" },
		"frozen":           func(r *recipe.Recipe) { r.BN, r.Init = bn.Frozen, "given" },
		"frozen, periodic": func(r *recipe.Recipe) { r.BN, r.Init, r.WeightSync = bn.Frozen, "given", "periodic:3" },
	}
	for name, change := range map[string]func(*recipe.Recipe){
		"pooled":   func(r *recipe.Recipe) {},
		"mean":     func(r *recipe.Recipe) { r.BNStats = bn.Mean },
		"first":    func(r *recipe.Recipe) { r.BNStats = bn.First },
		"late":     func(r *recipe.Recipe) { r.BNUpdate = "async:2" },
		"posthoc":  func(r *recipe.Recipe) { r.BNUpdate = bn.PostHoc },
		"running":  func(r *recipe.Recipe) { r.BNMin, r.Batch = "running", 12 },
		"template": func(r *recipe.Recipe) { r.WeightSync = "template" },
		"apart":    func(r *recipe.Recipe) { r.WeightSync = "periodic:2" },
		"behind":   func(r *recipe.Recipe) { r.WeightSync = "async:3" },
		"apart, adamw, ema, late": func(r *recipe.Recipe) {
			r.WeightSync, r.BNUpdate, r.Optimizer, r.LR, r.EMA = "periodic:4", "async:1", "adamw", 0.01, 0.9
		},
		"apart, lars, posthoc": func(r *recipe.Recipe) {
			r.WeightSync, r.BNUpdate, r.Optimizer, r.ClipNorm = "periodic:2", bn.PostHoc, "lars", 1
		},
		"bf16, late":     func(r *recipe.Recipe) { r.Precision, r.BNUpdate = "bf16", "async:2" },
		"apart, running": func(r *recipe.Recipe) { r.WeightSync, r.BNMin, r.Batch = "periodic:2", "running", 12 },
	} {
		all["replica, "+name] = func(r *recipe.Recipe) {
			r.BN = bn.Replica
			change(r)
		}
	}
	return all
}

// TestSameTemplateInEveryWay trains with eight replicas on 1 to 8 devices,
// some of them slow, and with another placement after a resume.
func TestSameTemplateInEveryWay(t *testing.T) {
	for name, change := range ways() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 42)
			b.recipe.Model, b.recipe.Batch, b.recipe.Replicas, b.recipe.Epochs = "convolution", 16, 8, 2
			change(&b.recipe)
			ctx := context.Background()
			want := b.template(New(ctx, &b.recipe, b.model(), b.config(1)))
			for devices := 2; devices <= 8; devices++ {
				if testing.Short() && devices%3 != 2 || underRace && devices != 5 {
					continue
				}
				c := b.config(devices)
				slow := &c.Devices[devices/2].Device
				*slow = &sluggish{*slow, rand.New(rand.NewPCG(uint64(devices), 1)), time.Millisecond}
				if got := b.template(New(ctx, &b.recipe, b.model(), c)); got != want {
					t.Errorf("%d devices: template %s, on one device %s", devices, got, want)
				}
			}
			if got := b.replaced(t); got != want {
				t.Errorf("placed anew in the middle: template %s, on one device %s", got, want)
			}
		})
	}
}

// replaced trains with one placement for three steps and with another to the end.
func (b *bench) replaced(t *testing.T) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c := b.config(3)
	c.Placement, c.Checkpoint = []int{5, 0, 3}, filepath.Join(t.TempDir(), "run.bnc")
	c.Events = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Step == 3 {
			stop()
		}
	}
	s, err := New(ctx, &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(ctx); err != context.Canceled {
		t.Fatalf("stopped run returned %v", err)
	}
	k, err := serialize.ReadCheckpoint(c.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	c = b.config(2)
	c.Placement = []int{1, 7}
	return b.template(Resume(context.Background(), k, &b.recipe, c))
}
