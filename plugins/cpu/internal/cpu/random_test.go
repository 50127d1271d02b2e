package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// randomProgram makes a function of n nodes, with dependencies in random order. All values
// have one shape and moderate magnitudes.
func randomProgram(r *rand.Rand, n int) (*graph.Program, error) {
	const channels, side = 16, 6
	p := &graph.Program{Name: "random"}
	b := graph.NewBuilder(graph.Predict, &p.State)
	state := func(name string, shape ...int) graph.Value {
		return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: graph.Constant})
	}
	gamma, beta, weight := state("gamma", channels), state("beta", channels),
		state("weight", channels, channels, 3, 3)
	t := graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{channels, side, side}}
	values := []graph.Value{b.Input("a", t), b.Input("b", t)}
	pick := func() graph.Value { return values[max(0, len(values)-1-r.IntN(5))] }
	normalised := func(name string, x graph.Value) graph.Value {
		m := b.Op(graph.Moments, name+".m", []graph.Value{x})
		if r.IntN(2) == 0 {
			return b.Op(graph.Normalise, name+".n", []graph.Value{x, m, gamma, beta}, "over", "replica")
		}
		m = b.Op(graph.AllReduce, name+".a", []graph.Value{m}, "of", "moments")
		return b.Op(graph.Normalise, name+".n", []graph.Value{x, m, gamma, beta})
	}
	for i := range n {
		name := fmt.Sprint("v", i)
		switch r.IntN(8) {
		case 0:
			x := b.Op(graph.Conv, name, []graph.Value{pick(), weight}, "pad", []int{1, 1, 1, 1})
			values = append(values, normalised(name, x))
		case 1:
			values = append(values, b.Op(graph.Relu, name, []graph.Value{pick()}))
		case 2:
			x := b.Op(graph.Add, name, []graph.Value{pick(), normalised(name, pick())})
			values = append(values, b.Op(graph.Relu6, name+".r", []graph.Value{x}))
		case 3:
			values = append(values, b.Op(graph.ActivationGrad, name, []graph.Value{pick(), pick()}, "of", "relu"))
		case 4:
			x := b.Op(graph.ReduceMean, name, []graph.Value{pick()}, "axes", []int{1, 2}, "keep", true)
			values = append(values, b.Op(graph.Sub, name+".s", []graph.Value{pick(), x}))
		case 5:
			x := b.Op(graph.SumRows, name, []graph.Value{pick()})
			x = b.Op(graph.Tanh, name+".t", []graph.Value{x})
			values = append(values, b.Op(graph.Mul, name+".x", []graph.Value{pick(), x}))
		case 6:
			x := b.Op(graph.MaxPool, name, []graph.Value{pick()}, "kernel", []int{2, 2}, "stride", []int{2, 2})
			values = append(values, b.Op(graph.Upsample, name+".u", []graph.Value{x}, "size", []int{side, side}))
		case 7:
			g := b.Op(graph.ConvGradWeight, name, []graph.Value{pick(), pick()}, "kernel", []int{3, 3}, "pad",
				[]int{1, 1, 1, 1})
			b.Output(name+".out", b.Op(graph.AllReduce, name+".a", []graph.Value{g}), false)
		}
	}
	for i, v := range values[max(0, len(values)-3):] {
		b.Output(fmt.Sprint("out", i), v, false)
	}
	fn, err := b.Function()
	p.Functions = []*graph.Function{fn}
	return p, err
}

// For any fusion, grouping, deferral and memory layout of nodes, the results agree with
// ref, and have the same bits for any number of workers.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 99))
		p, err := randomProgram(r, 3+r.IntN(25))
		if err != nil {
			t.Fatal(err)
		}
		rows := []int{1 + r.IntN(3), r.IntN(2), r.IntN(5)}
		want := evaluate(t, ref.New("ref"), p, rows, 0, len(rows))
		var first []tensor.Tensor
		for _, threads := range []int{1, 2, 5} {
			got := evaluate(t, openSet(t, "auto", threads), p, rows, 0, len(rows))
			if first == nil {
				first = got
			}
			for i := range want {
				if d := difference(got[i], want[i]); !(d < 1e-3) {
					t.Errorf("seed %d: output %d differs from ref by %.2g\n%s", seed, i, d, p.Text())
				}
				if !tensor.Equal(got[i], first[i]) {
					t.Errorf("seed %d: output %d has other bits with %d threads\n%s", seed, i, threads, p.Text())
				}
			}
		}
	}
}
