package cpu

import (
	"context"
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// A step has the same result, however the replicas are divided among devices.
func TestGroupSameBits(t *testing.T) {
	const replicas, batch = 5, 9
	want := trainGroup(t, batch, replicas, [][]int{{0, 1, 2, 3, 4}})
	for _, deal := range [][][]int{
		{{0, 1, 2, 3}, {4}},
		{{0, 2, 4}, {1, 3}},
		{{0, 1}, {2, 3}, {4}},
		{{4}, {3}, {2}, {1}, {0}},
		{{0, 1, 2, 3, 4}, {}},
	} {
		for name, got := range trainGroup(t, batch, replicas, deal) {
			if !tensor.Equal(got, want[name]) {
				t.Errorf("replicas %v: state %s differs from that of one device", deal, name)
			}
		}
	}
}

// trainGroup trains lenet-bn for two steps on a group of devices and returns
// the state, which must be the same on all.
func trainGroup(t *testing.T, batch, replicas int, deal [][]int) map[string]tensor.Tensor {
	t.Helper()
	hub := collective.NewHub(replicas, len(deal))
	states := make([]map[string]tensor.Tensor, len(deal))
	errs := make(chan error)
	for rank, held := range deal {
		d := openSet(t, "auto", 1+rank%2)
		if err := d.Join(context.Background(), device.Group{Generation: 3, Rank: rank, Replicas: deal,
			Level: device.InProcess, Exchange: hub.Member(rank)}); err != nil {
			t.Fatal(err)
		}
		tr := newTrainer(t, d, "lenet-bn", batch, replicas, models.Size{})
		tr.step = slice(tr, tr.step, held)
		go func() {
			var err error
			states[rank], err = steps(tr, 2)
			errs <- err
		}()
	}
	for range deal {
		if err := <-errs; err != nil {
			hub.Abort(err)
			t.Error(err)
		}
	}
	for _, s := range states[1:] {
		for name := range s {
			if !tensor.Equal(s[name], states[0][name]) {
				t.Errorf("replicas %v: state %s differs between devices", deal, name)
			}
		}
	}
	return states[0]
}

// steps makes n training steps and returns the state.
func steps(tr *trainer, n int) (map[string]tensor.Tensor, error) {
	ctx, state := context.Background(), map[string]tensor.Tensor{}
	for i := range n {
		tr.step.Number = uint64(i)
		if _, err := tr.Run(ctx, tr.step); err != nil {
			return nil, err
		}
		if err := tr.Commit(ctx, device.Version(i), device.Hyper{"lr": 0.01}); err != nil {
			return nil, err
		}
	}
	for _, s := range tr.program.State {
		v, err := tr.Read(ctx, s.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		state[s.Name] = v
	}
	return state, nil
}

// slice returns the part of a step that belongs to some replicas.
func slice(tr *trainer, s device.Step, held []int) device.Step {
	part := device.Step{Function: s.Function}
	for _, r := range held {
		part.Rows = append(part.Rows, s.Rows[r])
	}
	fn := tr.program.Function(s.Function)
	for i, in := range s.Inputs {
		if fn.Values[fn.Inputs[i]].Type.Kind != graph.Rows {
			part.Inputs = append(part.Inputs, in)
			continue
		}
		rows := tensor.New(in.DType, append([]int{sum(part.Rows)}, in.Shape[1:]...)...)
		at := 0
		for _, r := range held {
			at += copy(rows.Bytes[at:], in.Rows(sum(s.Rows[:r]), sum(s.Rows[:r+1])).Bytes)
		}
		part.Inputs = append(part.Inputs, rows)
	}
	return part
}
