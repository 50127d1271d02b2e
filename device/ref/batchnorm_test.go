package ref_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// normGolden has the contents of testdata/batchnorm.json: operands, and results by the kind of
// statistics ("batch" or "replica").
type normGolden struct {
	Rows     []int
	Channels int
	Eps      float64
	In       map[string][]float64
	Out      map[string]map[string][]float64
}

// TestBatchNorm compares forward and backward batch norm over replicas of 5,
// 0, 1 and 9 rows with PyTorch's.
func TestBatchNorm(t *testing.T) {
	file, err := os.ReadFile("testdata/batchnorm.json")
	if err != nil {
		t.Fatal(err)
	}
	var g normGolden
	if err := json.Unmarshal(file, &g); err != nil {
		t.Fatal(err)
	}
	for _, over := range []string{"batch", "replica"} {
		t.Run(over, func(t *testing.T) { g.check(t, over) })
	}
}

func (g *normGolden) check(t *testing.T, over string) {
	rows := 0
	for _, n := range g.Rows {
		rows += n
	}
	shape, vector := []int{rows, g.Channels, 2, 2}, []int{g.Channels}
	got := run(t, g.program(t, over), g.Rows, filled(tensor.F32, shape, g.In["x"]),
		filled(tensor.F32, shape, g.In["dy"]), filled(tensor.F32, vector, g.In["gamma"]),
		filled(tensor.F32, vector, g.In["beta"]))
	for i, name := range []string{"y", "dx", "dgamma", "dbeta"} {
		want := filled(tensor.F32, got[i].Shape, g.Out[over][name])
		if err := tensor.Close(got[i], want, tensor.Tolerance{Absolute: 1e-6, Relative: 4e-7}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// program returns a program of forward and backward batch norm. over is the kind of statistics, batch or
// replica.
func (g *normGolden) program(t *testing.T, over string) *graph.Program {
	t.Helper()
	p := &graph.Program{Name: "norm"}
	b := graph.NewBuilder("norm", &p.State)
	data := graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{g.Channels, 2, 2}}
	vector := graph.Type{Kind: graph.Whole, DType: tensor.F32, Shape: []int{g.Channels}}
	x, dy := b.Input("x", data), b.Input("dy", data)
	gamma, beta := b.Input("gamma", vector), b.Input("beta", vector)
	m := b.Op(graph.Moments, "moments", []graph.Value{x})
	if over == "batch" {
		m = b.Op(graph.AllReduce, "merged", []graph.Value{m}, "of", "moments")
	}
	y := b.Op(graph.Normalise, "y", []graph.Value{x, m, gamma, beta}, "over", over, "eps", g.Eps)
	s := b.Op(graph.NormaliseGradSums, "sums", []graph.Value{x, dy, m}, "over", over)
	if over == "batch" {
		s = b.Op(graph.AllReduce, "summed", []graph.Value{s})
	}
	dx := b.Op(graph.NormaliseGradInput, "dx", []graph.Value{x, dy, m, s, gamma}, "over", over, "eps", g.Eps)
	params := b.Node(graph.NormaliseGradParams, "dgamma", graph.Attrs{}.With("eps", g.Eps), m, s)
	for i, v := range append([]graph.Value{y, dx}, params...) {
		if b.Type(v).Kind == graph.Replica {
			v = b.Op(graph.AllReduce, b.UniqueName("total"), []graph.Value{v})
		}
		b.Output([]string{"y", "dx", "dgamma", "dbeta"}[i], v, false)
	}
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	p.Functions = []*graph.Function{f}
	return p
}
