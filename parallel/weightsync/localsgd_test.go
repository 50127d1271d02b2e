package weightsync

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// five are devices of five replicas. Nothing runs on them.
type five struct{ program *graph.Program }

func (f five) Program() *graph.Program { return f.program }
func (f five) Replicas() int           { return 5 }
func (f five) Devices() int            { return 1 }

func (f five) Each(context.Context, func(int) bool, func(Device, int) error) error {
	panic("no device")
}

// The average is over all replicas, and restoring is exact.
func TestReplicasMeetInTheirMean(t *testing.T) {
	w := graph.State{Name: "w", DType: tensor.F32, Shape: []int{3}, Role: graph.Weight}
	kept := graph.State{Name: "kept", DType: tensor.F32, Shape: []int{2}, Role: graph.Mean}
	commit := &graph.Function{Name: graph.Commit, Updates: []graph.Update{{State: "w"}}}
	d := five{&graph.Program{State: []graph.State{w, kept}, Functions: []*graph.Function{commit}}}
	l := NewLocalSGD(d, map[string]tensor.Tensor{"w": tensor.New(tensor.F32, 3), "kept": tensor.New(tensor.F32, 2)})
	if l.ReplicaStates() != nil {
		t.Error("replicas that begin alike have something of their own")
	}
	var replicaTensors []map[string]tensor.Tensor
	for r := range 5 {
		state := map[string]tensor.Tensor{"w": tensor.New(tensor.F32, 3)}
		for i := range state["w"].F32() {
			state["w"].F32()[i] = float32(r * i)
		}
		replicaTensors = append(replicaTensors, state)
	}
	if err := l.Restore(replicaTensors, 2); err != nil {
		t.Fatal(err)
	}
	l.Average()
	for i, v := range l.State()["w"].F32() {
		if v != float32(2*i) {
			t.Errorf("the mean of weight %d is %v, want %v", i, v, 2*i)
		}
	}
	if l.ReplicaStates() != nil {
		t.Error("replicas that have met have something of their own")
	}
	replicaTensors[3]["w"] = tensor.New(tensor.F32, 1)
	err := l.Restore(replicaTensors, 2)
	if err == nil || !strings.Contains(err.Error(), "replica 3 has w") {
		t.Errorf("another shape: %v", err)
	}
	if err := l.Restore(replicaTensors[:4], 2); err == nil {
		t.Error("a replica is missing, and nobody notices")
	}
}
