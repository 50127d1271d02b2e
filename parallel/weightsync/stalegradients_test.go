package weightsync

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

var lateTrained = []graph.State{
	{Name: "w", DType: tensor.F32, Shape: []int{2}, Role: graph.Weight},
	{Name: "b", DType: tensor.F32, Shape: []int{}, Role: graph.Bias},
}

// lateGradients are integers, so their sums are exact in any order: replica r of step t has
// the gradient 2^k(t, r), a separate bit.
func lateGradients(step, replicas int) []tensor.Tensor {
	w, b := tensor.New(tensor.F32, replicas, 2), tensor.New(tensor.F32, replicas)
	for r := range replicas {
		v := float32(int(1) << (step*replicas + r))
		w.F32()[2*r], w.F32()[2*r+1], b.F32()[r] = v, -v, v
	}
	return []tensor.Tensor{w, b}
}

// Every gradient is applied once, at most span steps late, except for the replica without
// rows. Some are late and some are not.
func TestLateGradientsComeOnce(t *testing.T) {
	const steps, replicas, span = 5, 4, 2
	l := NewStaleGradients(lateTrained, 3, span)
	rows := []int{2, 0, 1, 1}
	all, overdue := 0, false
	for step := range steps + span {
		gradients, found := lateGradients(step, replicas), rows
		if step >= steps {
			gradients, found = lateGradients(0, replicas), make([]int, replicas)
		}
		var due map[string]tensor.Tensor
		due, l = next(t, l, step, gradients, found)
		got := int(due["due/b"].F32()[0])
		if w := due["due/w"].F32(); int(w[0]) != got || int(w[1]) != -got {
			t.Errorf("step %d: tensors w %v and b %v were not delayed alike", step, w, got)
		}
		if all&got != 0 {
			t.Errorf("step %d: gradients %b are applied again", step, all&got)
		}
		all |= got
		for bit := range steps * replicas {
			if got>>bit&1 == 1 && (bit/replicas > step || bit/replicas < step-span) {
				t.Errorf("the gradient of step %d is applied at %d", bit/replicas, step)
			}
			overdue = overdue || got>>bit&1 == 1 && bit/replicas < step
		}
	}
	if want := 0b1101_1101_1101_1101_1101; all != want {
		t.Errorf("applied %b, want %b", all, want)
	}
	if !overdue {
		t.Error("no gradient came late")
	}
	if n := l.Staleness(); n.Applied != 3*steps || n.Waited == 0 || n.Left() != 0 {
		t.Errorf("counted %+v, want %d applied and none left", n, 3*steps)
	}
}

func TestLateGradientsGoOn(t *testing.T) {
	rows := []int{1, 1, 1}
	whole := NewStaleGradients(lateTrained, 3, 3)
	half := whole
	for step := range 6 {
		restored, err := NewStaleGradients(lateTrained, 3, 3).Restored(half.Tensors(), half.Staleness())
		if err != nil {
			t.Fatal(err)
		}
		var a, b map[string]tensor.Tensor
		a, whole = next(t, whole, step, lateGradients(step, 3), rows)
		b, half = next(t, restored, step, lateGradients(step, 3), rows)
		for name := range half.Tensors() {
			if at, of, _ := strings.Cut(name, "/"); at < "1" || at > "3" || of != "w" && of != "b" {
				t.Errorf("step %d: %q waits, of w and b in 1 to 3 steps", step, name)
			}
		}
		if fmt.Sprint(half.Staleness()) != fmt.Sprint(whole.Staleness()) {
			t.Errorf("step %d: other counts after a checkpoint", step)
		}
		if fmt.Sprint(a["due/w"].F32(), a["due/b"].F32()) != fmt.Sprint(b["due/w"].F32(), b["due/b"].F32()) {
			t.Errorf("step %d: other gradients after a checkpoint", step)
		}
	}
	counted := NewStaleGradients(lateTrained, 3, 3).counts
	counted.Waiting[1].Count = 1
	for _, w := range []tensor.Tensor{tensor.New(tensor.F64, 2), tensor.New(tensor.F32, 3),
		tensor.New(tensor.F32, 2)} {
		_, err := NewStaleGradients(lateTrained, 3, 3).Restored(
			map[string]tensor.Tensor{"2/w": w, "2/b": tensor.New(tensor.F32)}, counted)
		if right := w.DType == tensor.F32 && w.Shape[0] == 2; (err == nil) != right {
			t.Errorf("%v waits for w: %v", w, err)
		}
	}
	for name, waiting := range map[string]map[string]tensor.Tensor{
		"of another tensor": {"1/v": tensor.New(tensor.F32, 2)},
		"of another span":   {"4/w": tensor.New(tensor.F32, 2)},
		"of another shape":  {"1/w": tensor.New(tensor.F32, 3)},
	} {
		none := Staleness{Waiting: make([]Due, 3)}
		if _, err := NewStaleGradients(lateTrained, 3, 3).Restored(waiting, none); err == nil {
			t.Errorf("gradients %s: no error", name)
		}
	}
}

func next(t *testing.T, l *StaleGradients, step int, gradients []tensor.Tensor, rows []int) (
	map[string]tensor.Tensor, *StaleGradients) {
	t.Helper()
	due, after, err := l.Next(step, gradients, rows)
	if err != nil {
		t.Fatal(err)
	}
	return due, after
}

// A gradient that is not finite is rejected at once, whether it is due now or later, and the error
// names its replica.
func TestLateGradientThatIsNotFinite(t *testing.T) {
	trained := []graph.State{{Name: "w", DType: tensor.F32, Shape: []int{2, 2}}}
	g := tensor.New(tensor.F32, 3, 2, 2)
	for _, c := range []struct {
		values []float32 // values of element 3, by replica
		want   string
	}{
		{[]float32{1, 2, float32(math.Inf(-1))}, "replica 2: not finite: grad:w: channel 1, element 3 is -Inf"},
		{[]float32{3e38, 1, 3e38}, "not finite: the sum of grad:w: channel 1, element 3 is +Inf"},
	} {
		for r, v := range c.values {
			g.F32()[4*r+3] = v
		}
		_, _, err := NewStaleGradients(trained, 1, 0).Next(0, []tensor.Tensor{g}, []int{1, 1, 1})
		if !errors.Is(err, device.NonFinite) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.values, err, c.want)
		}
	}
}

// TestLatenessCounts: gradients are counted when they are applied, with their waiting
// times.
func TestLatenessCounts(t *testing.T) {
	l := Staleness{Waiting: make([]Due, 2)}
	for i, want := range []string{"{1 0 [{1 1} {2 4}]}", "{2 1 [{2 4} {0 0}]}", "{4 5 [{0 0} {0 0}]}"} {
		delays := []int{0, 2, 1, 2}
		if i > 0 {
			delays = nil
		}
		l = l.next(delays)
		if got := fmt.Sprint(l); got != want {
			t.Errorf("step %d: %s, want %s", i, got, want)
		}
		if left := []int64{3, 2, 0}[i]; l.Left() != left {
			t.Errorf("step %d: %d are left, want %d", i, l.Left(), left)
		}
	}
}
