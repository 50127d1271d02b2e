package bn_test

import (
	"errors"
	"math"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// largest is the largest float32, the bound for stored values. The tests below compute with it: the
// decay is 0.9, a channel starts at variance 1.
const largest = math.MaxFloat32

// overflowing returns moments of two values on each of three replicas. In channel 1 the second
// replica has a mean that fits float32 and a finite variance that does not.
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
		{"first", step(bn.Replica, bn.First), 0, false}, // the values of replica 0 are small enough
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
			a, err := bn.NewAsync(layers, start, 3, 4) // the moments wait, and a checkpoint would contain them
			if err != nil {
				return err
			}
			_, err = a.Next(moments)
			if !same(a.Tensors(), start) || len(a.Pending().History) != 0 {
				t.Error("late: the set changed")
			}
			return err
		}, 1, true},
		{"late by nothing", func() error {
			a, err := bn.NewAsync(layers, start, 3, 0)
			if err != nil {
				return err
			}
			_, err = a.Next(moments)
			return err
		}, 1, true},
		{"late, means far apart", func() error {
			a, err := bn.NewAsync(layers, start, 3, 1)
			if err != nil {
				return err
			}
			m := tensor.New(tensor.F64, 8, 5)
			for r, mean := range []float64{-1e22, 5e22, -1e22, -1e22, -1e22, -1e22, -1e22, -1e22} {
				put(m, r, 0, []float64{1, 2})
				put(m, r, 1, []float64{mean, mean})
			}
			_, err = a.Next([]tensor.Tensor{m})
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
		case bad.Layer != "bn1" || bad.Replica != c.replica || bad.Channel != 1 ||
			bad.What != "running variance" || bad.Channels != 1 || !(bad.Value > largest):
			t.Errorf("%s: %v, want the running variance of replica %d, channel 1", c.name, err, c.replica)
		}
	}
}

func same(a, b map[string]tensor.Tensor) bool {
	return tensor.Equal(a["m"], b["m"]) && tensor.Equal(a["v"], b["v"])
}

// The largest variance that is accepted and the smallest that is not: 0.9 + 0.1*u rounds to a float32 if u
// is below ten times the largest float32 and half a step more.
func TestLargestVarianceIsCommitted(t *testing.T) {
	for _, c := range []struct {
		share float64 // as a share of ten times the largest float32
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

// Finite sets can be so far apart that the variance between them is not finite.
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
	if err := r.PerReplica[1].Restore(b, []int64{0}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Merged(bn.Pooled); err == nil {
		t.Error("replicas far apart: no error")
	}
}

// The error for merged replicas names the replica with the farthest values. This is neither the replica with
// most values nor a replica that does not count.
func TestOverflowNamesTheFarthestReplica(t *testing.T) {
	for _, c := range []struct {
		name string
		rows [][3]float64 // rows of the replicas, each with n, mean and Q
		want int
	}{
		{"large variance, many values", [][3]float64{{2, 0, 2e43}, {2000, 0, 3e43}}, 0},
		{"large mean", [][3]float64{{2, 0, 2e40}, {2, 1e23, 0}, {2, 0, 2e41}}, 1},
		{"one value counts for nothing", [][3]float64{{2, 0, 2e42}, {1, 1e30, 0}}, 0},
	} {
		m := tensor.New(tensor.F64, len(c.rows), 5)
		for r, v := range c.rows {
			m.F64()[5*r], m.F64()[5*r+2], m.F64()[5*r+4] = v[0], v[1], v[2]
		}
		s, err := bn.New([]bn.Layer{layer(2)}, fresh(2), bn.Replica, bn.Pooled)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Next([]tensor.Tensor{m})
		var bad *bn.NonFinite
		if !errors.As(err, &bad) || bad.Replica != c.want {
			t.Errorf("%s: %v, want replica %d", c.name, err, c.want)
		}
	}
}

func TestNonFiniteSays(t *testing.T) {
	for _, c := range []struct {
		e    bn.NonFinite
		want string
	}{
		{bn.NonFinite{Layer: "b", Replica: 0, Channel: 3, What: "mean", Value: math.NaN(), Channels: 2},
			"bn: layer b: replica 0: channel 3: the mean is NaN (2 channels affected)"},
		{bn.NonFinite{Layer: "b", Replica: -1, What: "running variance", Value: 1e39, Channels: 1},
			"bn: layer b: channel 0: the running variance would be 1e+39, and float32 ends at 3.4e+38 " +
				"(1 channel affected)"},
		{bn.NonFinite{Layer: "b", Replica: 1, What: "variance", Value: -2, Channels: 1},
			"bn: layer b: replica 1: channel 0: the variance is -2 (1 channel affected)"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The error counts all affected channels, of the means or of the variances.
func TestNonFiniteCountsChannels(t *testing.T) {
	m := goldenMoments(0)
	m.F64()[4], m.F64()[6] = math.Inf(1), math.NaN()
	var bad *bn.NonFinite
	if err := bn.Check([]bn.Layer{layer(3)}, []tensor.Tensor{m}); !errors.As(err, &bad) || bad.Channels != 2 {
		t.Errorf("%v, want 2 channels", err)
	}
	m.F64()[4], m.F64()[6] = 1e44, 1e44
	s, err := bn.New([]bn.Layer{layer(3)}, fresh(3), bn.Sync, bn.Pooled)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Next([]tensor.Tensor{m}); !errors.As(err, &bad) || bad.Channels != 2 || bad.Channel != 0 {
		t.Errorf("%v, want 2 channels from 0 on", err)
	}
}

// A channel that is constant has the variance 0, which is a valid variance.
func TestVarianceZeroIsCommitted(t *testing.T) {
	m := tensor.New(tensor.F64, 1, 3)
	m.F64()[0], m.F64()[1] = 8, 5
	if err := bn.Check([]bn.Layer{layer(1)}, []tensor.Tensor{m}); err != nil {
		t.Error(err)
	}
}

// Restored moments are checked like new ones.
func TestAsyncRestoreRefusesWhatIsNotFinite(t *testing.T) {
	a := run(t, async(t, 1, 3), 0, 10)
	p := a.Pending()
	if len(p.History) != 3 {
		t.Errorf("the moments of %d steps wait, want those of 3", len(p.History))
	}
	p.History["8/0"] = p.History["8/0"].Clone()
	p.History["8/0"].F64()[1] = math.NaN()
	if err := async(t, 1, 3).Restore(a.Tensors(), p); err == nil {
		t.Error("NaN waits: no error")
	}
	if err := async(t, 1, 3).Restore(map[string]tensor.Tensor{}, a.Pending()); err == nil {
		t.Error("no statistics: no error")
	}
	p.History["8/0"].F64()[1] = 1e30 // finite, but the merged value is not
	b := async(t, 1, 3)
	if err := b.Restore(a.Tensors(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Drained(); err == nil {
		t.Error("draining what overflows: no error")
	}
}

func TestMergeRefusesWeights(t *testing.T) {
	sets := []map[string]tensor.Tensor{fresh(1), fresh(1)}
	for _, w := range [][]float64{{-1, 3}, {math.Inf(1), 1}, {math.NaN(), 1}, {0, 0}, {1}} {
		if _, err := bn.Merge([]bn.Layer{layer(1)}, sets, w, bn.Pooled); err == nil {
			t.Errorf("weights %v: no error", w)
		}
	}
}

func TestReplicasRefuses(t *testing.T) {
	l := []bn.Layer{layer(1)}
	if _, err := bn.NewReplicas(l, fresh(1), 1); err != nil {
		t.Errorf("one replica: %v", err)
	}
	if _, err := bn.NewReplicas(l, fresh(1), 0); err == nil {
		t.Error("no replica: no error")
	}
	if _, err := bn.NewReplicas(l, nil, 2); err == nil {
		t.Error("no statistics: no error")
	}
	s, err := bn.New(l, fresh(1), bn.Sync, bn.Pooled)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(fresh(2), []int64{1}); err == nil || s.Updates()[0] != 0 {
		t.Errorf("statistics of two channels: %v, updates %v", err, s.Updates())
	}
}

// A batch with several values in one row has more than one value.
func TestFeasibleCountsValues(t *testing.T) {
	l := layer(1)
	l.Elements = 4
	for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
		batch := []bn.Partition{{What: "the batch", Rows: []int{4}}}
		if err := bn.Feasible([]bn.Layer{l}, mode, batch); err != nil {
			t.Errorf("%s: 16 values: %v", mode, err)
		}
	}
}
