package devicetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// stageText is the program of a stage of two layers, y = x*w + w. All numbers are small integers,
// so that the order of a sum does not matter.
const stageText = `bnctl program 1
program "stage"

state w f32[3] weight zeros

func train.forward(x rows f32[3]) {
  a = mul(x, @w)
  y = add(a, @w)
  keep kept:a rows = a
  return across:y rows = y
}

func train.backward(kept:a rows f32[3], x rows f32[3], across:dy rows f32[3]) {
  dx = mul(across:dy, kept:a)
  product = mul(across:dy, x)
  a.dw = channel_sum(product)
  b.dw = channel_sum(across:dy)
  dw = add(b.dw, a.dw)
  keep leaf:w replica = dw
  return across:dx rows = dx
}

func train.reduce(leaf:w replica f32[3]) {
  w.grad = all_reduce(leaf:w)
  keep grad:w = w.grad
  return sum = w.grad
}

func commit(grad:w whole f32[3], lr whole f32[]) {
  step = mul(grad:w, lr)
  next = sub(@w, step)
  update @w = next
}
`

func stageProgram() (*graph.Program, error) { return graph.ParseProgram([]byte(stageText)) }

func slotCases() []Case {
	const reads = "A run of train.backward takes what its slot keeps, and frees it; other runs may come between."
	const leaves = "train.reduce sums the leaves along the canonical tree, in whatever order they came."
	const counts = "The memory that an executable says it takes counts the slots of its capacity."
	one := func(name, rule string, run func(ctx context.Context, x *stageRun) error) Case {
		return newCase(name, rule, stageProgram, func(ctx context.Context, open Opener) error {
			d, err := open.device(ctx)
			if err != nil || !d.Info().Has(device.Slots) {
				return err
			}
			defer d.Close()
			p, err := stageProgram()
			if err != nil {
				return err
			}
			x, err := d.Load(ctx, p, device.Capacity{Rows: 8, Replicas: 4})
			if err == nil {
				err = x.Write(ctx, "w", tensor.Of([]float32{2, -3, 1}, 3))
			}
			if err != nil {
				return err
			}
			return run(ctx, &stageRun{device: d, exe: x})
		})
	}
	return []Case{
		one("slots: runs in between", reads, slotsApart),
		one("slots: leaves in any order", leaves, leavesInAnyOrder),
		one("slots: runs without replicas", leaves, slotsWithoutReplicas),
		one("slots: mistakes", reads, slotMistakes),
		one("slots: memory", counts, slotsCounted),
		newCase("slots: columns", leaves, stageProgram, stageColumns),
	}
}

// stageRun runs steps of stageText with four replicas of 2, 1, 0 and 1 rows.
type stageRun struct {
	device device.Device
	exe    device.Executable
}

// stageRows is the number of rows of each replica. The values of the rows are the integers that
// stageNumbers returns.
var stageRows = []int{2, 1, 0, 1}

func stageNumbers(replica, stage int) tensor.Tensor {
	t := tensor.New(tensor.F32, stageRows[replica], 3)
	for i := range t.F32() {
		t.F32()[i] = float32((7*replica+3*i+stage)%5 - 2)
	}
	return t
}

// wantAcross returns the expected values of a replica: y of the forward pass, dx of the backward pass,
// and the leaf, which is the replica's gradient for w.
func wantAcross(replica int) (y, dx, leaf []float32) {
	w, leaf := []float32{2, -3, 1}, make([]float32, 3)
	x, dy := stageNumbers(replica, 1).F32(), stageNumbers(replica, 4).F32()
	for i := range x {
		a, c := float32(x[i]*w[i%3]), i%3
		y, dx = append(y, a+w[c]), append(dx, float32(dy[i]*a))
		leaf[c] += dy[i] + float32(dy[i]*x[i])
	}
	return y, dx, leaf
}

func (s *stageRun) step(function string, slot, replica int, inputs ...tensor.Tensor) device.Step {
	return device.Step{Function: function, Slot: slot, Replicas: []int{replica}, Inputs: inputs,
		Rows: stageRows[replica : replica+1]}
}

func (s *stageRun) forward(ctx context.Context, slot, replica int) error {
	y, _, _ := wantAcross(replica)
	o, err := s.exe.Run(ctx, s.step(graph.Forward, slot, replica, stageNumbers(replica, 1)))
	return numbersAre(err, o, fmt.Sprintf("train.forward of replica %d in slot %d", replica, slot), y)
}

func (s *stageRun) backward(ctx context.Context, slot, replica int) error {
	_, dx, _ := wantAcross(replica)
	x, dy := stageNumbers(replica, 1), stageNumbers(replica, 4)
	o, err := s.exe.Run(ctx, s.step(graph.Backward, slot, replica, x, dy))
	return numbersAre(err, o, fmt.Sprintf("train.backward of replica %d in slot %d", replica, slot), dx)
}

// reduce runs graph.Reduce for the replicas that the device holds, after both passes of all these
// replicas.
func (s *stageRun) reduce(ctx context.Context, replicas []int) error {
	var want [3]float32
	for r := range stageRows {
		_, _, leaf := wantAcross(r)
		for c, v := range leaf {
			want[c] += v
		}
	}
	var rows []int
	for _, r := range replicas {
		rows = append(rows, stageRows[r])
	}
	o, err := s.exe.Run(ctx, device.Step{Function: graph.Reduce, Rows: rows})
	return numbersAre(err, o, "train.reduce", want[:])
}

// numbersAre checks the only output of a run.
func numbersAre(err error, o device.Outcome, name string, want []float32) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case len(o.Outputs) != 1:
		return fmt.Errorf("%s: %d outputs, want 1: kept ones stay on the device", name, len(o.Outputs))
	case !slices.Equal(o.Outputs[0].F32(), want):
		return fmt.Errorf("%s yields %v, want %v", name, o.Outputs[0].F32(), want)
	}
	return nil
}

// slotsApart runs three forward passes, and then the backward passes in another order.
func slotsApart(ctx context.Context, s *stageRun) error {
	for i, r := range []int{0, 1, 3} {
		if err := s.forward(ctx, i, r); err != nil {
			return err
		}
	}
	for _, k := range [][2]int{{1, 1}, {0, 0}, {2, 3}} {
		if err := s.backward(ctx, k[0], k[1]); err != nil {
			return err
		}
	}
	return s.commit(ctx)
}

// commit reduces, commits and checks the weights.
func (s *stageRun) commit(ctx context.Context) error {
	if err := s.reduce(ctx, []int{0, 1, 2, 3}); err != nil {
		return err
	}
	if err := s.exe.Commit(ctx, 0, device.Hyper{"lr": 0.5}); err != nil {
		return err
	}
	want := []float32{2, -3, 1}
	for r := range stageRows {
		_, _, leaf := wantAcross(r)
		for c, v := range leaf {
			want[c] -= float32(0.5 * v)
		}
	}
	got, err := s.exe.Read(ctx, "w")
	return numbersAre(err, device.Outcome{Outputs: []tensor.Tensor{got}}, "w after the commit", want)
}

// leavesInAnyOrder begins a step, begins it again, which drops the leaves held so far, and completes it.
func leavesInAnyOrder(ctx context.Context, s *stageRun) error {
	for _, r := range []int{3, 0, 3, 1, 0} { // the second 3 drops the leaves of 3 and 0
		if err := s.forward(ctx, 5, r); err != nil {
			return err
		}
		if err := s.backward(ctx, 5, r); err != nil {
			return err
		}
	}
	return s.commit(ctx)
}

// slotsWithoutReplicas makes runs without replicas, which must change nothing. They come before all
// other runs, and in another slot while the first replica is between its two passes.
func slotsWithoutReplicas(ctx context.Context, s *stageRun) error {
	nothing := tensor.New(tensor.F32, 0, 3)
	for _, at := range []string{"before all others", "in between"} {
		if at == "in between" {
			if err := s.forward(ctx, 0, 0); err != nil {
				return err
			}
		}
		for _, of := range []device.Step{{Function: graph.Forward, Inputs: []tensor.Tensor{nothing}},
			{Function: graph.Backward, Inputs: []tensor.Tensor{nothing, nothing}}} {
			of.Slot, of.Replicas, of.Rows = 3, []int{}, []int{}
			o, err := s.exe.Run(ctx, of)
			if err := numbersAre(err, o, of.Function+" without replicas "+at, nil); err != nil {
				return err
			}
		}
	}
	if err := s.backward(ctx, 0, 0); err != nil {
		return err
	}
	for _, r := range []int{1, 3} {
		if err := s.forward(ctx, 0, r); err != nil {
			return err
		}
		if err := s.backward(ctx, 0, r); err != nil {
			return err
		}
	}
	return s.commit(ctx)
}

func slotMistakes(ctx context.Context, s *stageRun) error {
	run := func(step device.Step) func() error {
		return func() error { _, err := s.exe.Run(ctx, step); return err }
	}
	if err := s.forward(ctx, 0, 0); err != nil {
		return err
	}
	x, dy, x1, dy1 := stageNumbers(0, 1), stageNumbers(0, 4), stageNumbers(1, 1), stageNumbers(1, 4)
	twice := s.step(graph.Forward, 0, 0, x)
	twice.Replicas = []int{0, 1}
	if err := allFail([]attempt{
		{"a slot that keeps nothing", device.Invalid, run(s.step(graph.Backward, 1, 0, x, dy))},
		{"a slot of other rows", device.Invalid, run(s.step(graph.Backward, 0, 1, x1, dy1))},
		{"two numbers for one replica", device.Invalid, run(twice)},
		{"reduced before all leaves came", device.Invalid,
			run(device.Step{Function: graph.Reduce, Rows: stageRows})},
		{"committed before reduced", device.Invalid, func() error {
			return s.exe.Commit(ctx, 0, device.Hyper{"lr": 0.5})
		}},
	}); err != nil {
		return err
	}
	if err := s.backward(ctx, 0, 0); err != nil {
		return err
	}
	again := run(s.step(graph.Backward, 0, 0, x, dy))
	return allFail([]attempt{{"a slot that was freed", device.Invalid, again}})
}

// slotsCounted makes an executable grow by slots. Each slot keeps three float32 values for each row.
func slotsCounted(ctx context.Context, s *stageRun) error {
	before := s.exe.Needs()
	if err := s.exe.Grow(ctx, device.Capacity{Slots: 4, Leaves: 8}); err != nil {
		return err
	}
	const further = 3 * 3 * 4
	if after := s.exe.Needs(); after.PerRow < before.PerRow+further || after.Fixed < before.Fixed {
		return fmt.Errorf("it takes %+v with 4 slots, and %+v with 1; want %d bytes more for each row at least",
			after, before, further)
	}
	return slotsApart(ctx, s)
}

// stageColumns runs a stage on two devices that each hold some of the replicas.
func stageColumns(ctx context.Context, open Opener) error {
	p, err := stageProgram()
	if err != nil {
		return err
	}
	replicas := [][]int{{0, 1, 2}, {3}}
	hub := collective.NewHub(4, 2)
	var columns []*stageRun
	for rank := range replicas {
		d, err := open.device(ctx)
		if err != nil || !d.Info().Has(device.Slots) {
			return err
		}
		defer d.Close()
		x, err := d.Load(ctx, p, device.Capacity{Rows: 8, Replicas: 4})
		if err == nil {
			err = x.Write(ctx, "w", tensor.Of([]float32{2, -3, 1}, 3))
		}
		if err == nil {
			err = d.Join(ctx, device.Group{Rank: rank, Replicas: replicas, Level: d.Info().Levels[0],
				Exchange: hub.Member(rank)})
		}
		if err != nil {
			return err
		}
		columns = append(columns, &stageRun{device: d, exe: x})
	}
	ended := make(chan error, len(columns))
	for rank, c := range columns {
		go func() { ended <- c.column(ctx, replicas[rank]) }()
	}
	for range columns {
		if e := <-ended; err == nil {
			err = e
		}
	}
	return err
}

// column runs all passes of a step for some of the replicas.
func (s *stageRun) column(ctx context.Context, replicas []int) error {
	for _, r := range replicas {
		if stageRows[r] == 0 {
			continue
		}
		if err := s.forward(ctx, 0, r); err != nil {
			return err
		}
		if err := s.backward(ctx, 0, r); err != nil {
			return err
		}
	}
	return s.reduce(ctx, replicas)
}
