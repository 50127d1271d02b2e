package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// ontoCase is a weight gradient.
type ontoCase struct{ x, dy, op, weight string }

// ontoCases are weight gradients by every algorithm.
var ontoCases = []ontoCase{
	{"16,14,14", "32,14,14", "conv_grad_weight(x, dy, kernel=[3,3], pad=[1,1,1,1])", "32,16,3,3"}, // by tiles
	{"20,9,9", "70,9,9", "conv_grad_weight(x, dy, kernel=[1,1])", "70,20,1,1"},
	{"16,2,2", "80,2,2", "conv_grad_weight(x, dy, kernel=[3,3], pad=[1,1,1,1])", "80,16,3,3"},
	{"3,15,15", "8,8,8", "conv_grad_weight(x, dy, kernel=[7,7], stride=[2,2], pad=[3,3,3,3])", "8,3,7,7"},
	{"8,6,6", "12,6,6", "conv_grad_weight(x, dy, kernel=[3,3], pad=[1,1,1,1], groups=2)", "12,4,3,3"},
	{"16,6,6", "16,6,6", "conv_grad_weight(x, dy, kernel=[3,3], pad=[1,1,1,1], groups=16)", "16,1,3,3"},
	{"150", "70", "dense_grad_weight(x, dy)", "70,150"},
}

// If the gradients of replicas are computed in order, they are added to the sum meanwhile. In reverse
// order, they wait for others. Both sums must have the same bits.
func TestGradientsAreAddedWhereTheyAreMade(t *testing.T) {
	for _, c := range ontoCases {
		p := c.program(t)
		for _, threads := range []int{1, 3} {
			for _, kernels := range []string{"auto", "generic"} {
				x, err := openSet(t, kernels, threads).Load(context.Background(), p,
					device.Capacity{Rows: 9, Replicas: 5})
				if err != nil {
					t.Fatal(err)
				}
				want := ontoSum(t, x, p, []int{4, 3, 2, 1, 0})
				for range 2 {
					if got := ontoSum(t, x, p, []int{0, 1, 2, 3, 4}); !tensor.Equal(got, want) {
						t.Errorf("%s on %s with %d threads: another sum than of leaves that wait", c.op, kernels, threads)
					}
				}
			}
		}
	}
}

// program returns a stage that makes the gradient of every replica and sums them.
func (c ontoCase) program(t *testing.T) *graph.Program {
	t.Helper()
	text := fmt.Sprintf(`bnctl program 1
program "onto"

func train.forward(x rows f32[%[1]s]) {
  y = relu(x)
  keep kept:x rows = x
  return across:y rows = y
}

func train.backward(kept:x rows f32[%[1]s], dy rows f32[%[2]s]) {
  dw = %[3]s
  keep leaf:dw replica = dw
}

func train.reduce(leaf:dw replica f32[%[4]s]) {
  sum = all_reduce(leaf:dw)
  keep grad:w = sum
  return w = sum
}

func commit(grad:w whole f32[%[4]s], lr whole f32[]) {
  next = mul(grad:w, lr)
}
`, c.x, c.dy, strings.ReplaceAll(c.op, "(x,", "(kept:x,"), c.weight)
	p, err := graph.ParseProgram([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ontoSum returns the sum of the gradients of five replicas, which are computed in the given order.
func ontoSum(t *testing.T, x device.Executable, p *graph.Program, order []int) tensor.Tensor {
	t.Helper()
	ctx, rows := context.Background(), []int{2, 1, 3, 0, 3}
	run := func(function string, r int, v graph.Variable) {
		t.Helper()
		in, draw := tensor.New(tensor.F32, v.Type.Sized(rows[r], 1)...), rand.New(rand.NewPCG(uint64(r), 1))
		for i := range in.F32() {
			in.F32()[i] = float32(draw.NormFloat64())
		}
		_, err := x.Run(ctx, device.Step{Function: function, Replicas: []int{r}, Rows: rows[r : r+1],
			Inputs: []tensor.Tensor{in}})
		if err != nil {
			t.Fatal(err)
		}
	}
	forward, backward := p.Function(graph.Forward), p.Function(graph.Backward)
	for _, r := range order {
		if rows[r] > 0 {
			run(graph.Forward, r, forward.Values[forward.Inputs[0]])
			run(graph.Backward, r, backward.Values[backward.Inputs[1]])
		}
	}
	out, err := x.Run(ctx, device.Step{Function: graph.Reduce, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return out.Outputs[0]
}
