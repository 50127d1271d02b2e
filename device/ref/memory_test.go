package ref_test

import (
	"errors"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/tensor"
)

// TestMemoryIsPlanned checks that attention over a very long sequence is refused before
// memory is allocated. The scores do not fit into the memory of any machine, and the system
// would end the process.
func TestMemoryIsPlanned(t *testing.T) {
	if total, _ := memory.Machine(); total == 0 {
		t.Skip("the system does not say how much memory there is")
	}
	const tokens = 1 << 20
	b := graph.NewBuilder(graph.Predict, nil)
	in := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{tokens, 1}})
	scores := b.Op(graph.MatMul, "scores", []graph.Value{in, in}, "transpose_b", true) // 8 TiB of float64
	b.Output("y", b.Op(graph.MatMul, "y", []graph.Value{scores, in}), false)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	p := &graph.Program{Functions: []*graph.Function{f}}
	x, err := ref.Load(p, device.F32)
	if err != nil {
		t.Fatal(err)
	}
	step := device.Step{Function: graph.Predict, Rows: []int{1},
		Inputs: []tensor.Tensor{tensor.New(tensor.F32, 1, tokens, 1)}}
	_, err = x.Run(t.Context(), lifecycle.Step{Func: f, Step: step}, nil)
	if !errors.Is(err, device.OutOfMemory) {
		t.Errorf("%v, want out of memory", err)
	}
}
