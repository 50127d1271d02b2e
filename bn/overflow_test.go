package bn_test

import (
	"errors"
	"math"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// largest is the largest float32: what is stored must not be beyond it. All
// below is arithmetic with it: the decay is 0.9, a channel starts at variance 1.
const largest = math.MaxFloat32

// overflowing returns moments of two values on each of three replicas, the
// second of which has a finite variance in channel 1 that float32 does not hold,
// and a mean that it does.
func overflowing() tensor.Tensor {
	m := tensor.New(tensor.F64, 3, 5)
	for r := range 3 {
		for c := range 2 {
			put(m, r, c, []float64{1, 2})
		}
	}
	put(m, 1, 1, []float64{-1e21, 1e21}) // Q = 2e42
	return m
}

func TestWhatIsCommittedIsChecked(t *testing.T) {
	layers, start := []bn.Layer{layer(2)}, fresh(2)
	moments := []tensor.Tensor{overflowing()}
	if err := bn.Check(layers, moments); err != nil {
		t.Fatalf("the moments themselves are finite: %v", err)
	}
	step := func(mode bn.Mode, rule bn.Rule) func() error {
		return func() error {
			s, err := bn.New(layers, start, mode, rule)
			if err != nil {
				return err
			}
			_, err = s.Next(moments)
			if !same(s.Tensors(), start) || s.Updates()[0] != 0 {
				t.Errorf("%s %s: the set changed", mode, rule)
			}
			return err
		}
	}
	for _, c := range []struct {
		name    string
		next    func() error
		replica int
		fails   bool
	}{
		{"sync", step(bn.Sync, bn.Pooled), 1, true},
		{"pooled", step(bn.Replica, bn.Pooled), 1, true},
		{"mean", step(bn.Replica, bn.Mean), 1, true},
		{"first", step(bn.Replica, bn.First), 0, false}, // replica 0 is well
		{"each its own", func() error {
			r, err := bn.NewReplicas(layers, start, 3)
			if err != nil {
				return err
			}
			_, err = r.Next(moments)
			if !same(merged(t, r, bn.Mean), start) {
				t.Error("each its own: the sets changed")
			}
			return err
		}, 1, true},
		{"late", func() error {
			a, err := bn.NewAsync(layers, start, 3, 4)
			for step := 0; step <= 4 && err == nil; step++ {
				before := a.Tensors()
				var next *bn.Async
				if next, err = a.Next(moments); err == nil {
					a = next
				} else if !same(a.Tensors(), before) || len(a.Pending().History) != min(step, 4) {
					t.Error("late: the set changed")
				}
			}
			return err
		}, 1, true},
		{"precise", func() error {
			p := bn.NewPrecise(layers)
			p.Add(moments)
			_, err := p.Tensors()
			return err
		}, -1, true},
	} {
		var bad *bn.NonFinite
		switch err := c.next(); {
		case !c.fails:
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		case !errors.As(err, &bad):
			t.Errorf("%s: error %v, want a NonFinite", c.name, err)
		case bad.Layer != "bn1" || bad.Replica != c.replica || bad.Channel != 1 || bad.What != "running variance" ||
			bad.Channels != 1 || !(bad.Value > largest):
			t.Errorf("%s: %v, want the running variance of replica %d, channel 1", c.name, err, c.replica)
		}
	}
}

func same(a, b map[string]tensor.Tensor) bool {
	return tensor.Equal(a["m"], b["m"]) && tensor.Equal(a["v"], b["v"])
}

// The last variance that is taken and the first that is not: 0.9 + 0.1*u rounds
// to float32 if u is below ten times the largest and half a step more.
func TestLargestVarianceIsCommitted(t *testing.T) {
	for _, c := range []struct {
		share float64 // of ten times the largest
		ok    bool
	}{{0.999999, true}, {1.000001, false}, {math.NaN(), false}} {
		m := tensor.New(tensor.F64, 1, 3)
		m.F64()[0], m.F64()[2] = 2, c.share*10*largest // Q/(n-1) = Q
		s, err := bn.New([]bn.Layer{layer(1)}, fresh(1), bn.Sync, bn.Pooled)
		if err != nil {
			t.Fatal(err)
		}
		next, err := s.Next([]tensor.Tensor{m})
		if (err == nil) != c.ok {
			t.Errorf("%g of the largest: %v", c.share, err)
		}
		if err == nil && math.IsInf(float64(next.Tensors()["v"].F32()[0]), 0) {
			t.Errorf("%g of the largest: infinite", c.share)
		}
	}
}

// Sets that are finite can lie so far apart that the variance between them is not.
func TestMergeOfSetsFarApart(t *testing.T) {
	a, b := fresh(1), fresh(1)
	a["m"].F32()[0], b["m"].F32()[0] = 1e20, -1e20
	for _, rule := range bn.Rules() {
		_, err := bn.Merge([]bn.Layer{layer(1)}, []map[string]tensor.Tensor{a, b}, nil, rule)
		var bad *bn.NonFinite
		if errors.As(err, &bad) != (rule == bn.Pooled) {
			t.Errorf("%s: %v", rule, err)
		}
	}
	r, err := bn.NewReplicas([]bn.Layer{layer(1)}, a, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Own[1].Restore(b, []int64{0}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Merged(bn.Pooled); err == nil {
		t.Error("replicas far apart: no error")
	}
}
