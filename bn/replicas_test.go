package bn_test

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

func replicas(t *testing.T, steps int) *bn.Replicas {
	t.Helper()
	r, err := bn.NewReplicas([]bn.Layer{layer(goldenChannels)}, fresh(goldenChannels), len(goldenRows))
	if err != nil {
		t.Fatal(err)
	}
	for step := range steps {
		r = next(t, r, []tensor.Tensor{goldenMoments(step)})
	}
	return r
}

func merged(t *testing.T, r *bn.Replicas, rule bn.Rule) map[string]tensor.Tensor {
	t.Helper()
	m, err := r.Merged(rule)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// One of the four replicas never has rows. It must not pull the statistics back to their initial values.
func TestMergedReplicasLeaveOutWhoSawNothing(t *testing.T) {
	r := replicas(t, 6)
	var seen []map[string]tensor.Tensor
	for i, rows := range goldenRows {
		if rows > 0 {
			seen = append(seen, r.PerReplica[i].Tensors())
		}
	}
	for _, rule := range bn.Rules() {
		want, err := bn.Merge([]bn.Layer{layer(goldenChannels)}, seen, nil, rule)
		if err != nil {
			t.Fatal(err)
		}
		if bits(merged(t, r, rule)) != bits(want) {
			t.Errorf("%s: other bits than the merge of the %d replicas that have rows", rule, len(seen))
		}
	}
}

func TestMergedReplicasBeforeTheFirstStep(t *testing.T) {
	if bits(merged(t, replicas(t, 0), bn.Pooled)) != bits(fresh(goldenChannels)) {
		t.Error("other statistics than those of the start")
	}
}

// With rule Mean, the average of the replicas' statistics equals the result of the rule in every
// step, since both are linear.
func TestMeanOfReplicasIsTheRuleMean(t *testing.T) {
	const steps = 6
	s, err := bn.New([]bn.Layer{layer(goldenChannels)}, fresh(goldenChannels), bn.Replica, bn.Mean)
	if err != nil {
		t.Fatal(err)
	}
	for step := range steps {
		s = next(t, s, []tensor.Tensor{goldenMoments(step)})
	}
	got := merged(t, replicas(t, steps), bn.Mean)
	for name, want := range s.Tensors() {
		for c, w := range want.F32() {
			g := got[name].F32()[c]
			if math.Abs(float64(g-w)) > 1e-6*max(math.Abs(float64(w)), 1) {
				t.Errorf("%s[%d] = %v, want %v", name, c, g, w)
			}
		}
	}
}

func TestParseUpdate(t *testing.T) {
	for text, span := range map[string]int{"async:0": 0, "async:7": 7, "async:64": 64} {
		u, err := bn.ParseUpdate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got, ok := u.Span(); !ok || got != span {
			t.Errorf("%s: span %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "async", "async:", "async:-1", "async:65", "async:+1", "async:01",
		"never"} {
		if _, err := bn.ParseUpdate(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	for _, u := range []bn.Update{bn.EveryStep, bn.PostHoc} {
		if got, err := bn.ParseUpdate(string(u)); err != nil || got != u {
			t.Errorf("%s: got %q, %v", u, got, err)
		}
		if _, ok := u.Span(); ok {
			t.Errorf("%s has a span", u)
		}
	}
}
