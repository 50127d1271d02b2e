package keras

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

// TestOwner: a weight's layer is the second last part of its name. In Keras 1 a single part
// contains the names of layer and weight.
func TestOwner(t *testing.T) {
	for name, want := range map[string][2]string{
		"conv/kernel:0":                 {"conv", "kernel"},
		"conv/kernel":                   {"conv", "kernel"},
		"tower/conv/kernel:0":           {"conv", "kernel"},
		"/kernel:0":                     {"", "kernel"},
		"kernel:0":                      {"", "kernel"},
		"conv_W:0":                      {"conv", "kernel"},
		"conv_b":                        {"conv", "bias"},
		"norm_running_std:0":            {"norm", "moving_variance"},
		"norm_running_mean":             {"norm", "moving_mean"},
		"norm/norm_gamma:0":             {"norm", "gamma"},
		"batch_normalization/beta_1:0x": {"batch_normalization", "beta_1:0x"},
	} {
		if layer, param := splitName(name); layer != want[0] || param != want[1] {
			t.Errorf("%s: %q and %q, want %q", name, layer, param, want)
		}
	}
}

// settled returns a layer with fields given as JSON.
func settled(t *testing.T, name, class, fields string) *layer {
	t.Helper()
	l := &layer{name: name, class: class}
	if err := json.Unmarshal([]byte(fields), &l.fields.m); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestSlots: a file has the trainable weights of all layers of a model, then the rest; a
// single layer keeps its order, whether it is trainable or not.
func TestSlots(t *testing.T) {
	norm := func(fields string) *layer { return settled(t, "n", "BatchNormalization", fields) }
	dense := func(fields string) *layer { return settled(t, "d", "Dense", fields) }
	for _, c := range []struct {
		layers []*layer
		want   string
	}{
		{[]*layer{norm(`{}`)}, "n.gamma n.beta n.moving_mean n.moving_variance"},
		{[]*layer{norm(`{"trainable":false}`)}, "n.gamma n.beta n.moving_mean n.moving_variance"},
		{[]*layer{norm(`{"scale":false}`)}, "n.beta n.moving_mean n.moving_variance"},
		{[]*layer{norm(`{}`), dense(`{}`)},
			"n.gamma n.beta d.kernel d.bias n.moving_mean n.moving_variance"},
		{[]*layer{norm(`{"trainable":false}`), dense(`{"use_bias":false}`)},
			"d.kernel n.gamma n.beta n.moving_mean n.moving_variance"},
		{[]*layer{dense(`{"trainable":false}`), norm(`{}`)},
			"n.gamma n.beta d.kernel d.bias n.moving_mean n.moving_variance"},
	} {
		var leaves []slot
		for _, l := range c.layers {
			leaves = append(leaves, slot{l: l, path: l.name})
		}
		var got []string
		for _, s := range slotsOf(leaves) {
			got = append(got, s.l.name+"."+s.param)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestMatch matches by name if every weight finds one array, otherwise by order.
func TestMatch(t *testing.T) {
	norm := settled(t, "n", "BatchNormalization", `{}`)
	dense := settled(t, "d", "Dense", `{}`)
	one, two := []slot{{l: dense}}, []slot{{l: norm}, {l: dense}}
	for _, c := range []struct {
		leaves []slot
		file   string // names of the arrays, in the file's order
		want   string // the same, in the order of the slots
	}{
		{one, "x/bias:0 x/kernel:0", "x/kernel:0 x/bias:0"}, // with a single layer, names need not contain its name
		{one, "a b", "a b"},
		{one, "bias_1 bias", "bias_1 bias"},                 // only one of the two is found by name: match by order
		{one, "kernel:0 y/kernel:0", "kernel:0 y/kernel:0"}, // both have the same name: match by order
		{two, "d/bias d/kernel n/gamma n/beta n/moving_mean n/moving_variance",
			"n/gamma n/beta d/kernel d/bias n/moving_mean n/moving_variance"},
		{two, "e/bias e/kernel n/gamma n/beta n/moving_mean n/moving_variance",
			"e/bias e/kernel n/gamma n/beta n/moving_mean n/moving_variance"}, // e is not a layer
	} {
		var g group
		for name := range strings.FieldsSeq(c.file) {
			g.arrays = append(g.arrays, array{name: name})
		}
		w := weights{}
		if err := w.match(c.leaves, g); err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, s := range slotsOf(c.leaves) {
			got = append(got, w[s.l][s.param].name)
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.file, got, want)
		}
	}
	err := weights{}.match(one, group{name: "d", arrays: []array{{name: "kernel"}}})
	if err == nil || !strings.Contains(err.Error(), "has 1 weights in the file, its description asks for 2") {
		t.Errorf("a weight is missing: %v", err)
	}
}

// TestRemarks checks the remarks about a file and about the devices that it was trained on.
func TestRemarks(t *testing.T) {
	for file, want := range map[string]string{
		"base.h5":             "keras, keras_version backend, 0",
		"layers.h5":           "keras, keras_version backend, 31", // layers that only have an effect in training
		"same-multi-gpu-2.h5": "keras, keras_version backend, 1",
		"weights.h5":          "keras, weights alone, keras_version backend, 0",
	} {
		f, err := Read("testdata/"+file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range f.Counters {
			names = append(names, c.Name)
		}
		got := strings.Join([]string{f.Format, strings.Join(names, " "), fmt.Sprint(len(f.Findings))}, ", ")
		if !strings.HasSuffix(got, strings.TrimPrefix(want, "keras")) {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestGraphTensors: weights alone get the names and the shapes of the graph.
func TestGraphTensors(t *testing.T) {
	for name, want := range map[string]string{
		"conv/kernel:0":       "conv.kernel [5 3 1 2]",
		"tower/conv/kernel:0": "tower/conv.kernel [5 3 1 2]",
		"/kernel":             ".kernel [5 3 1 2]",
		"kernel:0":            "kernel [5 3 1 2]",
		"norm/gamma:0":        "norm.gamma [1 2 3 5]",
	} {
		held := foreign.InMemory(name, tensor.New(tensor.F32, 1, 2, 3, 5))
		got := GraphTensors([]foreign.Tensor{held})[0]
		if fmt.Sprint(got.Name, " ", got.Shape) != want {
			t.Errorf("%s: %s %v, want %s", name, got.Name, got.Shape, want)
		}
	}
}

// TestArchivedNorms: an archive without a built model has the batch norms of its
// description. By number alone, the variance of a batch norm without gamma would be read as
// its mean.
func TestArchivedNorms(t *testing.T) {
	f, err := Read("testdata/recurrent.keras", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const at = "layers/batch_normalization"
	want := []foreign.BatchNorm{{Name: at, Beta: at + "/vars/0", Mean: at + "/vars/1", Variance: at + "/vars/2",
		Eps: 0.01, Decay: 0.99}}
	if f.NoModel == nil || !slices.Equal(f.Norms, want) {
		t.Errorf("%v, norms %+v, want %+v", f.NoModel, f.Norms, want)
	}
}
