package python_test

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// cpuKey is the environment variable that makes this test binary run as the CPU plugin.
const cpuKey = "BNCTL_TEST_CPU"

func TestMain(m *testing.M) {
	if os.Getenv(cpuKey) != "" {
		cpu.Main()
		return
	}
	os.Exit(m.Run())
}

// TestTrainBesideCPU trains a model on a CPU device, a device of this plugin and a ref device together, and
// compares it with the model that is trained on the CPU device alone.
func TestTrainBesideCPU(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	python := start(t)
	c := remote.Command{Name: "cpu", Path: self, Env: []string{cpuKey + "=1"}}
	native, err := remote.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer native.Close()
	want := trained(t, native)
	got := trained(t, native, python)
	for _, s := range want.Graph.State {
		a, b := got.State[s.Name].F32(), want.State[s.Name].F32()
		for i := range b {
			if d := math.Abs(float64(a[i]) - float64(b[i])); !(d <= 1e-4+1e-3*math.Abs(float64(b[i]))) {
				t.Errorf("%s[%d] is %v with Python, %v without", s.Name, i, a[i], b[i])
				break
			}
		}
	}
}

// trained trains lenet-bn for a few steps on one device of each plugin.
func trained(t *testing.T, plugins ...*remote.Plugin) *models.Model {
	t.Helper()
	ctx := context.Background()
	src, err := data.Open(ctx, "glyphs:40", data.Options{Split: data.Train})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	classes := len(src.Info().Classes)
	r := &recipe.Recipe{Release: "test", Model: "lenet-bn", Init: "seed", Seed: 1,
		Data:   recipe.Data{Kind: "glyphs", Samples: 40, Classes: classes},
		Epochs: 1, Batch: 10, Replicas: 4, Accumulate: 1, Tail: parallel.Keep,
		BN: bn.Sync, BNStats: bn.Pooled, BNUpdate: bn.EveryStep, WeightSync: weightsync.AllReduce, BNMin: "refuse",
		Optimizer: "sgd", LR: 0.01, Momentum: 0.9, WeightDecay: 1e-4,
		Schedule: "constant", Precision: "f32", Save: "last", EvalEvery: 1}
	size := models.Size{Height: 28, Width: 28, Channels: 1}
	m, err := models.Build(r.Model, models.Options{Input: size, Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, r.Seed); err != nil {
		t.Fatal(err)
	}
	var members []parallel.Member
	for _, p := range plugins {
		d, err := p.Open(ctx, device.DefaultID, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		members = append(members, parallel.Member{Name: d.Info().Name, Device: d})
	}
	if len(plugins) > 1 {
		d, err := ref.Provider{}.Open(ctx, device.DefaultID, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		members = append(members, parallel.Member{Name: "ref", Device: d})
		if class, same := parallel.KernelClass(members); same {
			t.Errorf("the kernel class %s promises the same bits on any placement", class)
		}
	}
	s, err := train.New(ctx, r, m, train.Config{Train: src, Devices: members})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
