package bn_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

func TestCheckFindsWhatIsNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	// The moments of 3 channels have the columns n, 3 means and 3 sums of squares.
	cases := []struct {
		name            string
		replica, column int
		value           float64
		channel         int
		what            string
	}{
		{"NaN mean", 3, 2, nan, 1, "mean"},
		{"infinite mean", 0, 3, inf, 2, "mean"},
		{"NaN variance", 2, 4, nan, 0, "variance"},
		{"negative variance", 2, 6, -1, 2, "variance"},
		{"NaN count", 0, 0, nan, 0, "count"},
		{"fractional count", 0, 0, 1.5, 0, "count"},
		{"negative count", 3, 0, -4, 0, "count"},
	}
	for _, c := range cases {
		m := goldenMoments(0)
		m.F64()[c.replica*7+c.column] = c.value
		var e *bn.NonFinite
		err := bn.Check([]bn.Layer{layer(3)}, []tensor.Tensor{m})
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v, want a NonFinite", c.name, err)
			continue
		}
		if e.Layer != "bn1" || e.Replica != c.replica || e.Channel != c.channel || e.What != c.what {
			t.Errorf("%s: found %s of replica %d channel %d of %s, want %s of %d %d", c.name, e.What, e.Replica,
				e.Channel,
				e.Layer, c.what, c.replica, c.channel)
		}
	}
}

func TestCheckAccepts(t *testing.T) {
	m := goldenMoments(0)
	m.F64()[1*7+1] = math.NaN() // replica 1 is empty: its moments do not count
	if err := bn.Check([]bn.Layer{layer(3)}, []tensor.Tensor{m}); err != nil {
		t.Errorf("an empty replica with NaN: %v", err)
	}
	large := tensor.Of([]float64{4, 0, 1e308}, 1, 3) // the variance is 2.5e307
	if err := bn.Check([]bn.Layer{layer(1)}, []tensor.Tensor{large}); err != nil {
		t.Errorf("a sum of squares that float64 holds: %v", err)
	}
}

func TestCheckShapes(t *testing.T) {
	good := goldenMoments(0)
	cases := map[string][]tensor.Tensor{
		"too few layers": {good},
		"other width":    {good, tensor.New(tensor.F64, 4, 5)},
		"other type":     {good, tensor.New(tensor.F32, 4, 7)},
		"other replicas": {good, tensor.New(tensor.F64, 3, 7)},
	}
	for name, m := range cases {
		if err := bn.Check([]bn.Layer{layer(3), layer(3)}, m); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestFeasible(t *testing.T) {
	flat, image := layer(3), layer(3)
	flat.Elements, image.Elements = 1, 49
	full := bn.Partition{What: "the full batch", Rows: []int{8, 8}}
	tail := bn.Partition{What: "the tail", Rows: []int{1, 0}} // 1825 samples in batches of 16
	cases := []struct {
		name   string
		layer  bn.Layer
		mode   bn.Mode
		splits []bn.Partition
		want   string // text in the error; "": no error
	}{
		{"full", flat, bn.Replica, []bn.Partition{full}, ""},
		{"tail of a convolution", image, bn.Replica, []bn.Partition{full, tail}, ""},
		{"tail, replica", flat, bn.Replica, []bn.Partition{full, tail},
			"replica 0 has one value per channel in the tail (1 row)"},
		{"tail, sync", flat, bn.Sync, []bn.Partition{full, tail}, "tail drop"},
		{"tail, frozen", flat, bn.Frozen, []bn.Partition{full, tail}, ""},
		{"one row each, sync", flat, bn.Sync, []bn.Partition{{What: "the full batch", Rows: []int{1, 1}}}, ""},
		{"one row each, replica", flat, bn.Replica, []bn.Partition{{What: "the full batch", Rows: []int{1, 1}}},
			"replica 0 has one value"},
		{"one row last, replica", flat, bn.Replica, []bn.Partition{{What: "the full batch", Rows: []int{2, 1}}},
			"bn sync"},
	}
	for _, c := range cases {
		err := bn.Feasible([]bn.Layer{c.layer}, c.mode, c.splits)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		var e *bn.TooFew
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: error is a %T", c.name, err)
		}
	}
}
