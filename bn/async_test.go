package bn_test

import (
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

func async(t *testing.T, seed uint64, span int) *bn.Async {
	t.Helper()
	a, err := bn.NewAsync([]bn.Layer{layer(goldenChannels)}, fresh(goldenChannels), seed, span)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func run(t *testing.T, a *bn.Async, from, to int) *bn.Async {
	t.Helper()
	for step := from; step < to; step++ {
		a = next(t, a, []tensor.Tensor{goldenMoments(step)})
	}
	return a
}

func drained(t *testing.T, a *bn.Async) *bn.Async {
	t.Helper()
	d, err := a.Drained()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func bits(state map[string]tensor.Tensor) string {
	return fmt.Sprint(state["m"].Bytes, state["v"].Bytes)
}

func TestAsyncWithoutDelayIsPooled(t *testing.T) {
	a := async(t, 1, 0)
	s, err := bn.New([]bn.Layer{layer(goldenChannels)}, fresh(goldenChannels), bn.Replica, bn.Pooled)
	if err != nil {
		t.Fatal(err)
	}
	for step := range 5 {
		m := []tensor.Tensor{goldenMoments(step)}
		a = next(t, a, m)
		s = next(t, s, m)
	}
	if bits(a.Tensors()) != bits(s.Tensors()) {
		t.Error("other bits than without delay")
	}
}

// Three of the four replicas have rows. The moments of each are merged once, at most span steps late.
func TestAsyncMergesEverythingOnce(t *testing.T) {
	const steps, span = 200, 4
	a := async(t, 1, span)
	a = run(t, a, 0, steps)
	if a.Merged >= 3*steps {
		t.Errorf("%d of %d observations merged before the end: nothing waits", a.Merged, 3*steps)
	}
	before := bits(a.Tensors())
	d := drained(t, a)
	if d.Merged != 3*steps {
		t.Errorf("%d observations merged, want %d", d.Merged, 3*steps)
	}
	if a.Merged == d.Merged || bits(a.Tensors()) != before {
		t.Error("draining a copy changed the set")
	}
	// 600 delays uniform in 0 to 4: mean 2, deviation of the mean 0.06.
	if mean := float64(d.TotalDelay) / float64(d.Merged); mean < 1.75 || mean > 2.25 {
		t.Errorf("an observation waits for %.2f steps, want about 2", mean)
	}
}

func TestAsyncIsAFunctionOfTheSeed(t *testing.T) {
	a, b, c := run(t, async(t, 1, 3), 0, 10), run(t, async(t, 1, 3), 0, 10), run(t, async(t, 2, 3), 0, 10)
	if bits(a.Tensors()) != bits(b.Tensors()) {
		t.Error("one seed, two results")
	}
	if bits(a.Tensors()) == bits(c.Tensors()) {
		t.Error("two seeds, one result")
	}
}

func TestAsyncGoesOnWithTheSameBits(t *testing.T) {
	for stop := range 8 {
		whole, half := async(t, 1, 3), async(t, 1, 3)
		whole = run(t, whole, 0, stop)
		if err := half.Restore(whole.Tensors(), whole.Pending()); err != nil {
			t.Fatal(err)
		}
		whole, half = run(t, whole, stop, 8), run(t, half, stop, 8)
		if bits(drained(t, whole).Tensors()) != bits(drained(t, half).Tensors()) || whole.Merged != half.Merged ||
			whole.TotalDelay != half.TotalDelay {
			t.Errorf("stopped after %d steps: other bits", stop)
		}
	}
}

func TestAsyncRestoreWantsEverything(t *testing.T) {
	a := async(t, 1, 3)
	a = run(t, a, 0, 5)
	p := a.Pending()
	delete(p.History, "3/0")
	if err := async(t, 1, 3).Restore(a.Tensors(), p); err == nil {
		t.Error("moments are missing: no error")
	}
	if _, err := bn.NewAsync(nil, nil, 0, -1); err == nil {
		t.Error("a span of -1: no error")
	}
}

// A replica that saw one value normalised it with other statistics. Its moments are not merged, late or not,
// and do not count.
func TestAsyncLeavesOutReplicasOfOneValue(t *testing.T) {
	l := layer(1)
	with, without := tensor.New(tensor.F64, 2, 3), tensor.New(tensor.F64, 2, 3)
	for _, m := range []tensor.Tensor{with, without} {
		put(m, 0, 0, []float64{1, 3})
	}
	put(with, 1, 0, []float64{100})
	var sets []*bn.Async
	for _, m := range []tensor.Tensor{with, without} {
		a, err := bn.NewAsync([]bn.Layer{l}, fresh(1), 5, 2)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			a = next(t, a, []tensor.Tensor{m})
		}
		sets = append(sets, drained(t, a))
	}
	if bits(sets[0].Tensors()) != bits(sets[1].Tensors()) || sets[0].Merged != 6 {
		t.Errorf("%d observations merged, want 6; statistics %v, without the single value %v", sets[0].Merged,
			sets[0].Tensors(), sets[1].Tensors())
	}
}
