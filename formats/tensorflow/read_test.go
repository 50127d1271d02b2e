package tensorflow

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/internal/shareddata"
)

func TestKeywordSpotting(t *testing.T) {
	index, err := Locate(shareddata.File(t, "checkpoints/tensorflow/kws_ref_model"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(index, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	elements, slots := 0, 0
	h := sha256.New()
	for _, x := range f.Tensors {
		v, err := x.Load()
		if err != nil {
			t.Fatal(err)
		}
		h.Write(v.Bytes)
		elements += v.Count()
	}
	for _, g := range f.Left {
		if g.Reason == "optimizer slots" {
			slots += g.Tensors
		}
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"first tensor", f.Tensors[0].String(), "layer_with_weights-0/bias f32[64]"},
		{"tensors", len(f.Tensors), 56},
		{"elements", elements, 24908}, // 9 batch norms of 64 channels, 10 kernels and biases
		{"optimizer slots", slots, 76},
		{"counters", fmt.Sprint(f.Counters), "[{optimizer/iter 30816}]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestShards(t *testing.T) {
	f, err := Read("testdata/cases/replicas.index", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := ""
	for _, x := range f.Tensors {
		v, err := x.Load()
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintln(x, v.F32())
	}
	const want = `bn/moving_mean f32[2] [1 2]
bn/moving_mean/replica_1 f32[2] [3 4]
bn/moving_variance f32[2] [1 1]
bn/moving_variance/replica_1 f32[2] [1 1]
conv/kernel f32[1,2,2,3] [0 1 2 3 4 5 6 7 8 9 10 11]
conv/kernel/replica_1 f32[1,2,2,3] [0 1 2 3 4 5 6 7 8 9 10 11]
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestLoop reads the checkpoint of a training run: values stored by an optimizer and the
// loop are left out by their names, and a file with only these is rejected.
func TestLoop(t *testing.T) {
	f, err := Read("testdata/cases/loop.index", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const want = "[model/bn/moving_mean f32[2] model/temperature f32[] optical_flow/kernel f32[1]]"
	if got := fmt.Sprint(f.Tensors); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := fmt.Sprint(f.Counters); got != "[{opt/iter 7} {step 70}]" {
		t.Errorf("counters %s", got)
	}
	if _, err := Read("testdata/cases/only.index", Options{}); err == nil || !strings.Contains(err.Error(),
		"holds no weights, only best_acc (single values), ") {
		t.Errorf("a checkpoint without a model: %v", err)
	}
}

func TestLeftOut(t *testing.T) {
	for _, c := range []struct{ name, kept, group string }{
		{"conv/kernel/.ATTRIBUTES/VARIABLE_VALUE", "conv/kernel", ""},
		{"conv/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE", "", ".OPTIMIZER_SLOT/optimizer/m"},
		{"save_counter/.ATTRIBUTES/VARIABLE_VALUE", "", "save_counter"},
		{"conv1/weights", "conv1/weights", ""},
		{"conv1/weights/Adam_1", "", "Adam_1"},
		{"beta1_power", "", "beta1_power"},
		{"conv1/BatchNorm/moving_mean/ExponentialMovingAverage", "", "ExponentialMovingAverage"},
	} {
		if kept, group, _ := classify(c.name); kept != c.kept || group != c.group {
			t.Errorf("%s: kept as %q, left out with %q, want %q and %q", c.name, kept, group, c.kept, c.group)
		}
	}
}
