package cpu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestSlotsInAnyOrder checks that values kept in a slot are unchanged when they are read, whatever layouts
// the two functions need, and whatever runs in between.
func TestSlotsInAnyOrder(t *testing.T) {
	p := ordersProgram(t)
	ctx := context.Background()
	var want []tensor.Tensor
	for i, d := range []device.Device{ref.New("ref"), openSet(t, "generic", 1), openSet(t, "generic", 3)} {
		got := slotOutputs(ctx, t, d, p)
		if i == 0 {
			want = got
		}
		for k := range got {
			if !tensor.Equal(got[k], want[k]) {
				t.Errorf("device %d, output %d: %v, want %v", i, k, got[k].F32(), want[k].F32())
			}
		}
	}
}

// TestSlotsAndLeavesAreCounted checks the reported memory of an executable. It includes the slots in use at
// a time, with 75 values for each row. It also includes the leaves that wait for others: for eight
// replicas, leaves of three levels, and one that is not added yet.
func TestSlotsAndLeavesAreCounted(t *testing.T) {
	x, err := openSet(t, "generic", 1).Load(t.Context(), ordersProgram(t), device.Capacity{Rows: 2, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	needs := func(c device.Capacity) device.Needs {
		if err := x.Grow(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return x.Needs()
	}
	const slot, leaf = 75 * 4, 128 // bytes of a row in a slot, and of a leaf of three values including slack
	one := needs(device.Capacity{Slots: 1, Leaves: 1})
	three := needs(device.Capacity{Slots: 3})
	if got := three.PerRow - one.PerRow; got != 2*slot {
		t.Errorf("two further slots take %d bytes a row, want %d", got, 2*slot)
	}
	if got := needs(device.Capacity{Leaves: 8}).Fixed - three.Fixed; got != 2*leaf {
		t.Errorf("the leaves of eight replicas take %d bytes more than that of one, want %d", got, 2*leaf)
	}
}

// ordersProgram returns a stage that keeps a and b, which have 75 values for each row, and a leaf of three
// values.
func ordersProgram(t *testing.T) *graph.Program {
	t.Helper()
	const text = `bnctl program 1
program "orders"

func train.forward(x rows f32[3,4], z rows f32[4,5], u rows f32[3,4,5]) {
  a = matmul(x, z)
  b = add(u, u)
  keep kept:a rows = a
  keep kept:b rows = b
  return across:y rows = a
}

func train.backward(kept:a rows f32[3,5], kept:b rows f32[3,4,5], v rows f32[3,5,2]) {
  c = add(kept:a, kept:a)
  d = matmul(kept:b, v)
  s = channel_sum(kept:a)
  keep leaf:s replica = s
  return across:c rows = c
  return across:d rows = d
}

func train.reduce(leaf:s replica f32[3]) {
  sum = all_reduce(leaf:s)
  keep grad:s = sum
  return s = sum
}

func commit(grad:s whole f32[3], lr whole f32[]) {
  next = mul(grad:s, lr)
}
`
	p, err := graph.ParseProgram([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// slotOutputs returns the outputs of three replicas, two of them in progress at a time.
func slotOutputs(ctx context.Context, t *testing.T, d device.Device, p *graph.Program) (all []tensor.Tensor) {
	t.Helper()
	x, err := d.Load(ctx, p, device.Capacity{Rows: 6, Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	r, rows := rand.New(rand.NewPCG(1, 2)), []int{2, 1, 3}
	run := func(function string, replica int, shapes ...[]int) {
		t.Helper()
		s := device.Step{Function: function, Slot: replica % 2, Replicas: []int{replica},
			Rows: rows[replica : replica+1]}
		for _, shape := range shapes {
			in := tensor.New(tensor.F32, append([]int{rows[replica]}, shape...)...)
			for i := range in.F32() {
				in.F32()[i] = float32(r.IntN(9) - 4)
			}
			s.Inputs = append(s.Inputs, in)
		}
		o, err := x.Run(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Outputs...)
	}
	forward := func(replica int) { run(graph.Forward, replica, []int{3, 4}, []int{4, 5}, []int{3, 4, 5}) }
	backward := func(replica int) { run(graph.Backward, replica, []int{3, 5, 2}) }
	for range 2 { // two steps: the second uses the memory of the first
		forward(0)
		forward(1)
		backward(0)
		forward(2)
		backward(1)
		backward(2)
		o, err := x.Run(ctx, device.Step{Function: graph.Reduce, Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Outputs...)
	}
	return all
}
