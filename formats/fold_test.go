package formats

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// vary fills the state of a model with numbers that are all different.
func vary(m *models.Model) {
	m.State = map[string]tensor.Tensor{}
	seed := uint32(1)
	for _, s := range m.Graph.State {
		v := tensor.New(s.DType, s.Shape...)
		for i := range v.F32() {
			seed = seed*1664525 + 1013904223
			x := float32(seed>>8)/(1<<23) - 1 // -1 to 1
			if s.Role == graph.Variance || s.Role == graph.Gamma {
				x = x/2 + 1
			}
			if s.Role == graph.Weight {
				x /= float32(math.Sqrt(float64(tensor.Count(s.Shape[1:]))))
			}
			v.F32()[i] = x
		}
		m.State[s.Name] = v
	}
}

// outputs returns the outputs of a model for two samples.
func outputs(t *testing.T, m *models.Model) []float64 {
	t.Helper()
	state := map[string]tensor.Tensor{}
	for name, s := range m.State {
		state[name] = doubled(s)
	}
	in := m.Input()
	x := tensor.New(in.DType, append([]int{2}, in.Shape...)...)
	for i := range x.Bytes {
		if in.DType == tensor.U8 {
			x.Bytes[i] = byte(i * 37)
		}
	}
	if in.DType == tensor.F32 {
		for i := range x.F32() {
			x.F32()[i] = float32(i%17)/8 - 1
		}
		x = doubled(x)
	}
	main, err := graph.Eval(m.Graph.Main, m.Graph.State)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ref.Eval64(main, state, []tensor.Tensor{x}, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	return out[0].F64()
}

func doubled(t tensor.Tensor) tensor.Tensor {
	out := tensor.New(tensor.F64, t.Shape...)
	for i, v := range t.F32() {
		out.F64()[i] = float64(v)
	}
	return out
}

func TestFold(t *testing.T) {
	b, table := builder()
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2, 5, 5}})
	c := b.Op(graph.Conv, "c", []graph.Value{x, param(b, "c.w", graph.Weight, 4, 1, 3, 3)}, "groups", 2)
	n := norm(b, "n1", c, 4)
	u := b.Op(graph.ConvTranspose, "u", []graph.Value{b.Op(graph.Relu, "r", []graph.Value{n}),
		param(b, "u.w", graph.Weight, 4, 3, 2, 2), param(b, "u.b", graph.Bias, 6)}, "groups", 2)
	p := b.Op(graph.GlobalAvgPool, "p", []graph.Value{norm(b, "n2", u, 6)})
	d := b.Op(graph.Dense, "d", []graph.Value{b.Op(graph.Reshape, "f", []graph.Value{p}, "shape", []int{6}),
		param(b, "d.w", graph.Weight, 5, 6)})
	last := norm(b, "n4", b.Op(graph.Relu, "r2", []graph.Value{norm(b, "n3", d, 5)}), 5)
	m := finish(t, b, table, last)

	folded, report, err := Fold(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(report); got != "{[n1 n2 n3] [n4] ["+noLayer+"]}" {
		t.Errorf("report %s", got)
	}
	compareOutputs(t, m, folded)
	if len(folded.State["u.b"].Shape) != 1 { // a bias that existed before keeps its name
		t.Errorf("state %v", folded.Graph.State)
	}
}

// TestFoldKeepsNames: folded parameters keep their names, and nothing is folded into a
// layer with a computed weight.
func TestFoldKeepsNames(t *testing.T) {
	m := foldedModel(t)
	folded, _, err := Fold(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range folded.Graph.State {
		if _, ok := m.State[s.Name]; !ok && s.Role != graph.Bias {
			t.Errorf("the folded model has a tensor %s", s.Name)
		}
	}
	b, table := builder()
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3}})
	w := b.Op(graph.Affine, "w2", []graph.Value{param(b, "w", graph.Weight, 2, 3)}, "by", 2.0)
	computed := finish(t, b, table, norm(b, "n", b.Op(graph.Dense, "d", []graph.Value{x, w}), 2))
	if same, report, err := Fold(computed); err != nil || len(report.Into) > 0 || len(report.Unfolded) != 1 {
		t.Errorf("a weight that is computed: %+v, %v", report, err)
	} else {
		compareOutputs(t, computed, same)
	}
	b, table = builder()
	x = b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3}})
	bias := b.Op(graph.Affine, "b2", []graph.Value{param(b, "b", graph.Bias, 2)}, "by", 2.0)
	d := b.Op(graph.Dense, "d", []graph.Value{x, param(b, "w", graph.Weight, 2, 3), bias})
	if _, report, err := Fold(finish(t, b, table, norm(b, "n", d, 2))); err != nil || len(report.Unfolded) != 1 {
		t.Errorf("a bias that is computed: %+v, %v", report, err)
	}
}

func TestFoldZoo(t *testing.T) {
	for _, name := range []string{"resnet20", "lenet-bn"} {
		m, err := models.Build(name, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		vary(m)
		folded, report, err := Fold(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Unfolded) > 0 || len(report.Into) == 0 {
			t.Errorf("%s: %+v", name, report)
		}
		for _, n := range folded.Graph.Main.Nodes {
			if n.Op == graph.BatchNorm {
				t.Errorf("%s: a batch norm is left", name)
			}
		}
		compareOutputs(t, m, folded)
	}
}

func compareOutputs(t *testing.T, a, b *models.Model) {
	t.Helper()
	x, y := outputs(t, a), outputs(t, b)
	size, worst := 0.0, 0.0
	for i := range x {
		size, worst = max(size, math.Abs(x[i])), max(worst, math.Abs(x[i]-y[i]))
	}
	if !(worst <= 1e-6*size) || len(x) != len(y) {
		t.Errorf("%s: outputs up to %g differ by up to %g", a.Architecture, size, worst)
	}
}

// TestFoldKeeps checks that a batch norm that cannot be folded is kept, with the reason,
// and that all others are folded. A reshape, as around a 1-D convolution, does not prevent
// folding.
func TestFoldKeeps(t *testing.T) {
	conv := func(b *graph.Builder, name string, x graph.Value) graph.Value {
		return b.Op(graph.Conv, name, []graph.Value{x, param(b, name+".w", graph.Weight, 2, 2, 1, 1)})
	}
	for _, c := range []struct {
		what string
		make func(b *graph.Builder, x graph.Value) graph.Value
		want string
	}{
		{"a result read twice", func(b *graph.Builder, x graph.Value) graph.Value {
			c := conv(b, "c", norm(b, "first", conv(b, "c0", x), 2))
			return b.Op(graph.Add, "sum", []graph.Value{norm(b, "n", c, 2), c})
		}, "{[first] [n] [what c computes is read elsewhere too, or is an output]}"},
		{"an output", func(b *graph.Builder, x graph.Value) graph.Value {
			c := conv(b, "c", x)
			b.Output("features", c, false)
			return norm(b, "n", c, 2)
		}, "{[] [n] [what c computes is read elsewhere too, or is an output]}"},
		{"a weight of two layers", func(b *graph.Builder, x graph.Value) graph.Value {
			w := param(b, "w", graph.Weight, 2, 2, 1, 1)
			return norm(b, "n", b.Op(graph.Conv, "c2", []graph.Value{b.Op(graph.Conv, "c1", []graph.Value{x, w}), w}),
				2)
		}, "{[] [n] [w belongs to 2 layers]}"},
		{"a line", func(b *graph.Builder, x graph.Value) graph.Value {
			line := b.Op(graph.Reshape, "line", []graph.Value{conv(b, "c", x)}, "shape", []int{2, 25})
			turned := b.Op(graph.Transpose, "same", []graph.Value{line}, "perm", []int{0, 1})
			return norm(b, "n", turned, 2)
		}, "{[n] [] []}"},
		{"a line read twice", func(b *graph.Builder, x graph.Value) graph.Value {
			line := b.Op(graph.Reshape, "line", []graph.Value{conv(b, "c", x)}, "shape", []int{2, 25})
			return b.Op(graph.Add, "sum", []graph.Value{norm(b, "n", line, 2), line})
		}, "{[] [n] [what c computes is read elsewhere too, or is an output]}"},
		{"channels that become others", func(b *graph.Builder, x graph.Value) graph.Value {
			return norm(b, "n", b.Op(graph.Reshape, "flat", []graph.Value{conv(b, "c", x)}, "shape", []int{50}), 50)
		}, "{[] [n] [" + noLayer + "]}"},
	} {
		b, table := builder()
		x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2, 5, 5}})
		m := finish(t, b, table, c.make(b, x))
		folded, report, err := Fold(m)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if got := fmt.Sprint(report); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		compareOutputs(t, m, folded)
	}
}

func TestFoldRefuses(t *testing.T) {
	for _, c := range []struct {
		what string
		make func(b *graph.Builder, x graph.Value) graph.Value
		harm func(m *models.Model)
		want string
	}{
		{"a mean that is not finite", func(b *graph.Builder, x graph.Value) graph.Value {
			return norm(b, "n", b.Op(graph.Conv, "c", []graph.Value{x, param(b, "w", graph.Weight, 2, 2, 1, 1)}), 2)
		}, func(m *models.Model) { m.State["n.running_mean"].F32()[1] = float32(math.NaN()) },
			"n.running_mean of channel 1 is NaN"},
		{"a negative variance", func(b *graph.Builder, x graph.Value) graph.Value {
			return norm(b, "n", b.Op(graph.Conv, "c", []graph.Value{x, param(b, "w", graph.Weight, 2, 2, 1, 1)}), 2)
		}, func(m *models.Model) { m.State["n.running_var"].F32()[0] = -1 }, "n.running_var of channel 0 is -1"},
	} {
		b, table := builder()
		x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2, 5, 5}})
		m := finish(t, b, table, c.make(b, x))
		if c.harm != nil {
			c.harm(m)
		}
		if _, _, err := Fold(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.want)
		}
	}
}

func builder() (*graph.Builder, *[]graph.State) {
	table := &[]graph.State{}
	return graph.NewBuilder("main", table), table
}

func param(b *graph.Builder, name string, role graph.Role, shape ...int) graph.Value {
	return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: role})
}

func norm(b *graph.Builder, name string, x graph.Value, n int) graph.Value {
	return b.Op(graph.BatchNorm, name, []graph.Value{x, param(b, name+".weight", graph.Gamma, n),
		param(b, name+".bias", graph.Beta, n), param(b, name+".running_mean", graph.Mean, n),
		param(b, name+".running_var", graph.Variance, n)}, "eps", 1e-3)
}

func finish(t *testing.T, b *graph.Builder, table *[]graph.State, out graph.Value) *models.Model {
	t.Helper()
	b.Output("logits", out, false)
	main, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "test", Graph: &graph.Graph{Name: "test", State: *table, Main: main}}
	vary(m)
	return m
}
