package bn_test

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// torchRunning is the output of testdata/torch_running.py: see there.
//
//go:embed testdata/torch_running.txt
var torchRunning string

// goldenRows has the rows of each replica in the case of testdata/torch_running.py.
var goldenRows = []int{5, 0, 1, 9}

const goldenChannels, goldenElements, goldenSteps = 3, 4, 3

func goldenValue(step, row, channel, element int) float64 {
	k := 131*step + 37*row + 11*channel + 7*element
	return float64(k*k%1009)/100*float64(channel+1) - 3 + float64(50*channel)
}

// goldenMoments returns the moments of one step, f64 [4,1+2*3], by two passes.
func goldenMoments(step int) tensor.Tensor {
	m := tensor.New(tensor.F64, len(goldenRows), 1+2*goldenChannels)
	row := 0
	for r, rows := range goldenRows {
		for c := range goldenChannels {
			var values []float64
			for i := range rows * goldenElements {
				values = append(values, goldenValue(step, row+i/goldenElements, c, i%goldenElements))
			}
			put(m, r, c, values)
		}
		row += rows
	}
	return m
}

// put stores the moments of a channel's values on replica r.
func put(m tensor.Tensor, r, c int, values []float64) {
	if len(values) == 0 {
		return
	}
	channels := m.Shape[1] / 2
	at := m.F64()[r*m.Shape[1]:]
	mean, q := 0.0, 0.0
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		q += (v - mean) * (v - mean)
	}
	at[0], at[1+c], at[1+channels+c] = float64(len(values)), mean, q
}

func layer(channels int) bn.Layer {
	return bn.Layer{Name: "bn1", Mean: "m", Variance: "v", Channels: channels, Elements: goldenElements,
		Decay: 0.9, Eps: 1e-5}
}

// fresh returns mean 0 and variance 1.
func fresh(channels int) map[string]tensor.Tensor {
	v := tensor.New(tensor.F32, channels)
	for i := range v.F32() {
		v.F32()[i] = 1
	}
	return map[string]tensor.Tensor{"m": tensor.New(tensor.F32, channels), "v": v}
}

func TestRunningStatisticsAsInPyTorch(t *testing.T) {
	change := map[string]func(*bn.Layer) (bn.Mode, bn.Rule){
		"sync":       func(*bn.Layer) (bn.Mode, bn.Rule) { return bn.Sync, bn.Pooled },
		"cumulative": func(l *bn.Layer) (bn.Mode, bn.Rule) { l.Cumulative = true; return bn.Sync, bn.Pooled },
		"first":      func(*bn.Layer) (bn.Mode, bn.Rule) { return bn.Replica, bn.First },
		"mean":       func(*bn.Layer) (bn.Mode, bn.Rule) { return bn.Replica, bn.Mean },
		"biased": func(l *bn.Layer) (bn.Mode, bn.Rule) {
			l.Biased, l.Decay = true, 0.99
			return bn.Sync, bn.Pooled
		},
	}
	seen := 0
	for line := range strings.Lines(torchRunning) {
		name, numbers, _ := strings.Cut(strings.TrimSpace(line), " ")
		l := layer(goldenChannels)
		s, err := bn.New([]bn.Layer{l}, fresh(goldenChannels), bn.Sync, bn.Pooled)
		if f := change[name]; f != nil {
			mode, rule := f(&l)
			s, err = bn.New([]bn.Layer{l}, fresh(goldenChannels), mode, rule)
		}
		if err != nil {
			t.Fatal(err)
		}
		for step := range goldenSteps {
			s = next(t, s, []tensor.Tensor{goldenMoments(step)})
		}
		got := append(s.Tensors()["m"].F32(), s.Tensors()["v"].F32()...)
		for i, f := range strings.Fields(numbers) {
			var want float64
			fmt.Sscan(f, &want)
			if d := math.Abs(float64(got[i]) - want); d > 1e-6*math.Abs(want) {
				t.Errorf("%s: statistic %d is %.9g, PyTorch has %.9g", name, i, got[i], want)
			}
		}
		seen++
	}
	if seen != len(change) {
		t.Errorf("%d cases in the golden file, want %d", seen, len(change))
	}
}

func TestTooFewValuesChangeNothing(t *testing.T) {
	l := layer(1)
	l.Cumulative = true
	one, none := tensor.New(tensor.F64, 2, 3), tensor.New(tensor.F64, 2, 3)
	put(one, 1, 0, []float64{7})
	two := one.Clone()
	put(two, 0, 0, []float64{3})
	cases := []struct {
		name    string
		mode    bn.Mode
		rule    bn.Rule
		moments tensor.Tensor
		updates int64
	}{
		{"nothing, sync", bn.Sync, bn.Pooled, none, 0},
		{"nothing, replica", bn.Replica, bn.Pooled, none, 0},
		{"one value, sync", bn.Sync, bn.Pooled, one, 0},
		{"one value, first", bn.Replica, bn.First, one, 0},
		{"one value on each of two, sync", bn.Sync, bn.Pooled, two, 1},
		{"one value on each of two, pooled", bn.Replica, bn.Pooled, two, 0},
		{"one value on each of two, mean", bn.Replica, bn.Mean, two, 0},
	}
	for _, c := range cases {
		s, err := bn.New([]bn.Layer{l}, fresh(1), c.mode, c.rule)
		if err != nil {
			t.Fatal(err)
		}
		s = next(t, s, []tensor.Tensor{c.moments})
		changed := !tensor.Equal(s.Tensors()["m"], fresh(1)["m"]) || !tensor.Equal(s.Tensors()["v"], fresh(1)["v"])
		if got := s.Updates()[0]; got != c.updates || changed != (c.updates > 0) {
			t.Errorf("%s: %d updates, changed %v, want %d updates", c.name, got, changed, c.updates)
		}
	}
}

func TestRestoreGoesOnWithTheSameBits(t *testing.T) {
	l := layer(goldenChannels)
	l.Cumulative = true
	whole, _ := bn.New([]bn.Layer{l}, fresh(goldenChannels), bn.Replica, bn.Pooled)
	half, _ := bn.New([]bn.Layer{l}, fresh(goldenChannels), bn.Replica, bn.Pooled)
	whole = next(t, whole, []tensor.Tensor{goldenMoments(0)})
	if err := half.Restore(whole.Tensors(), whole.Updates()); err != nil {
		t.Fatal(err)
	}
	whole = next(t, whole, []tensor.Tensor{goldenMoments(1)})
	half = next(t, half, []tensor.Tensor{goldenMoments(1)})
	for _, name := range []string{"m", "v"} {
		if !tensor.Equal(whole.Tensors()[name], half.Tensors()[name]) {
			t.Errorf("%s differs after Restore", name)
		}
	}
	if err := half.Restore(fresh(goldenChannels), nil); err == nil {
		t.Error("Restore without counts: no error")
	}
}

func TestNewRefuses(t *testing.T) {
	short := fresh(goldenChannels)
	short["v"] = tensor.New(tensor.F32, 2)
	cases := []struct {
		name  string
		state map[string]tensor.Tensor
		mode  bn.Mode
		rule  bn.Rule
		want  string
	}{
		{"frozen", fresh(3), bn.Frozen, bn.Pooled, "do not change"},
		{"sync with first", fresh(3), bn.Sync, bn.First, "for mode replica"},
		{"unknown rule", fresh(3), bn.Replica, "median", "unknown"},
		{"missing", map[string]tensor.Tensor{"m": tensor.New(tensor.F32, 3)},
			bn.Sync, bn.Pooled, "tensor v is missing"},
		{"shape", short, bn.Sync, bn.Pooled, "f32[2], want f32[3]"},
	}
	for _, c := range cases {
		_, err := bn.New([]bn.Layer{layer(3)}, c.state, c.mode, c.rule)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// next returns the set after one more step.
func next[S interface {
	Next(moments []tensor.Tensor) (S, error)
}](t *testing.T, s S, moments []tensor.Tensor) S {
	t.Helper()
	after, err := s.Next(moments)
	if err != nil {
		t.Fatal(err)
	}
	return after
}
