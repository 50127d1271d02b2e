package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// rowsOfReplicas are the rows of the replicas that gradients are tested on.
var rowsOfReplicas = []int{2, 0, 3}

const testRows = 5

// sampleWeight is the name of an input without a gradient.
const sampleWeight = "weight"

// TestGradient compares the gradient of every differentiable operation with
// central differences in float64.
func TestGradient(t *testing.T) {
	seen := map[graph.Op]bool{}
	for _, c := range gradCases {
		t.Run(c.name, func(t *testing.T) {
			d := newDerivative(t, c.build)
			for _, n := range d.forward.Nodes {
				seen[n.Op] = true
			}
			d.compare(t)
		})
	}
	for _, op := range graph.Ops() {
		if op.Differentiable() && !seen[op] {
			t.Errorf("no case differentiates %v", op)
		}
	}
}

// derivative has a function, the same function with its gradient, and a point.
type derivative struct {
	forward, backward *graph.Function
	wrt               []graph.Value
	state             map[string]tensor.Tensor
	inputs            []tensor.Tensor // inputs of forward; backward has the seed too
	seed              tensor.Tensor
}

func newDerivative(t *testing.T, build func(b *graph.Builder) graph.Value) *derivative {
	t.Helper()
	d := &derivative{}
	var table []graph.State
	b := graph.NewBuilder("main", &table)
	y := build(b)
	b.Output("y", y, false)
	d.forward = must(b.Function())(t)
	for i, v := range d.forward.Values {
		input := slices.Contains(d.forward.Inputs, graph.Value(i)) && v.Name != sampleWeight
		if v.Type.DType == tensor.F32 && (input || v.State != "" && trained(table, v.State)) {
			d.wrt = append(d.wrt, graph.Value(i))
		}
	}
	b = graph.Extend(d.forward, &table)
	seedType := b.Type(y)
	if seedType.Kind == graph.Replica { // a loss
		seedType = graph.Type{Kind: graph.Whole, DType: tensor.F32}
	}
	seed := b.Input("seed", seedType)
	grads, err := graph.Gradient(b, map[graph.Value]graph.Value{y: seed}, d.wrt)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range d.wrt {
		b.Output("d"+fmt.Sprint(v), grads[v], false)
	}
	d.backward = must(b.Function())(t)
	if err := d.backward.Check(table); err != nil {
		t.Fatal(err)
	}
	d.draw(table, seedType)
	return d
}

func trained(table []graph.State, name string) bool {
	i := slices.IndexFunc(table, func(s graph.State) bool { return s.Name == name })
	return table[i].Role.Trained()
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// draw fills state, inputs and seed with random numbers.
func (d *derivative) draw(table []graph.State, seed graph.Type) {
	r := rand.New(rand.NewPCG(1, 2))
	d.state = map[string]tensor.Tensor{}
	for _, s := range table {
		x := random(r, graph.Type{Kind: graph.Whole, DType: s.DType, Shape: s.Shape})
		if s.Role == graph.Variance {
			for i, v := range x.F64() {
				x.F64()[i] = v*v + 0.1
			}
		}
		d.state[s.Name] = x
	}
	for _, v := range d.forward.Inputs {
		d.inputs = append(d.inputs, random(r, d.forward.Values[v].Type))
	}
	d.seed = random(r, seed)
}

// random returns a tensor for Eval64. Integers are -1 to 2: labels, of which -1 is ignored,
// and sample numbers.
func random(r *rand.Rand, t graph.Type) tensor.Tensor {
	shape := t.Shape
	if t.Kind == graph.Rows {
		shape = append([]int{testRows}, shape...)
	}
	switch t.DType {
	case tensor.I32:
		x := tensor.New(tensor.I32, shape...)
		for i := range x.I32() {
			x.I32()[i] = int32(r.IntN(4) - 1)
		}
		return x
	case tensor.I64:
		x := tensor.New(tensor.I64, shape...)
		for i := range x.I64() {
			x.I64()[i] = int64(r.IntN(3))
		}
		return x
	}
	x := tensor.New(tensor.F64, shape...)
	for i := range x.F64() {
		x.F64()[i] = 4*r.Float64() - 2
	}
	return x
}

// at returns the input or state tensor that value v of the forward function reads.
func (d *derivative) at(v graph.Value) []float64 {
	if s := d.forward.Values[v].State; s != "" {
		return d.state[s].F64()
	}
	return d.inputs[slices.Index(d.forward.Inputs, v)].F64()
}

// objective returns the sum of all elements of the result times the seed.
func (d *derivative) objective(t *testing.T) float64 {
	y := must(ref.Eval64(d.forward, d.state, d.inputs, rowsOfReplicas))(t)[0].F64()
	seed, sum := d.seed.F64(), 0.0
	for i, v := range y {
		sum += v * seed[i%len(seed)]
	}
	return sum
}

func (d *derivative) compare(t *testing.T) {
	inputs := append(slices.Clone(d.inputs), d.seed)
	outputs := must(ref.Eval64(d.backward, d.state, inputs, rowsOfReplicas))(t)[1:]
	for k, v := range d.wrt {
		x := d.at(v)
		want := make([]float64, len(x))
		for i := range x {
			want[i] = d.difference(t, &x[i])
		}
		got := total(outputs[k].F64(), len(x))
		compare(t, d.forward.Values[v].Name, got, want)
	}
}

func (d *derivative) difference(t *testing.T, x *float64) float64 {
	const h = 1e-4
	old := *x
	defer func() { *x = old }()
	*x = old + h
	up := d.objective(t)
	*x = old - h
	return (up - d.objective(t)) / (2 * h)
}

// total adds the gradients of replicas, of n elements each.
func total(d []float64, n int) []float64 {
	sum := make([]float64, n)
	for i, v := range d {
		sum[i%n] += v
	}
	return sum
}

func compare(t *testing.T, name string, got, want []float64) {
	t.Helper()
	largest, worst, at := 0.0, 0.0, 0
	for i := range want {
		largest = max(largest, math.Abs(want[i]))
		if diff := math.Abs(got[i] - want[i]); !(diff <= worst) {
			worst, at = diff, i
		}
	}
	if largest == 0 || !(worst <= 1e-6*largest) {
		t.Errorf("%s[%d]: got %g, want %g; the largest of %d is %g", name, at, got[at], want[at], len(want),
			largest)
	}
}
