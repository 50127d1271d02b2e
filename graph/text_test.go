package graph

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGraphText(t *testing.T) {
	text := read(t, "lenet-bn.graph")
	g, err := ParseGraph(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Text(); !bytes.Equal(got, text) {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
	if err := g.Check(); err != nil {
		t.Error(err)
	}
}

func TestProgramText(t *testing.T) {
	text := read(t, "step.program")
	p, err := ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Text(); !bytes.Equal(got, text) {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	again, err := ParseProgram(p.Text())
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("parsed again: %v, another program", err)
	}
}

// TestTextOfBuilt parses the text of a function with values declared early, late and never
// used.
func TestTextOfBuilt(t *testing.T) {
	var table []State
	b := NewBuilder("main", &table)
	late := b.Declare(State{Name: "late", DType: f32, Shape: []int{2}, Role: Gamma,
		Init: Init{"ones", []float64{}}})
	b.Declare(State{Name: "unused", DType: f32, Shape: []int{}, Role: Constant,
		Init: Init{"constant", []float64{1.0 / 3}}})
	x := b.Input("/x.0", Type{Rows, f32, []int{2, 1}})
	y := b.Op(Prelu, "input", []Value{x,
		b.Declare(State{Name: "slope", DType: f32, Shape: []int{2}, Role: Weight})})
	z := b.Input("z", Type{Whole, f32, []int{}})
	y = b.Op(Mul, "return", []Value{y, z})
	b.Input("last", Type{Rows, f32, []int{1}})
	y = b.Op(Affine, "1", []Value{y}, "by", float32(0.1), "add", 0.0)
	b.Output("y", y, false)
	b.Output("late", late, false)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	g := &Graph{"any \"name\"\n", table, f}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	got, err := ParseGraph(g.Text())
	if err != nil || !reflect.DeepEqual(got, g) {
		t.Errorf("%v\n%s\n%#v\n%#v", err, g.Text(), got, g)
	}
}

func TestParseByHand(t *testing.T) {
	text := "# my model\n\nbnctl graph 1 # version\ngraph \"m\"\nfunc main(\n  x rows f32[4],\n  y rows " +
		"f32[4]) {\r\n\n" + "\ta = add(\n x, y # both\n)\n  r = clip(a, max=6, min=0)\n  return r rows = r }"
	g, err := ParseGraph([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if n := g.Main.Nodes[1]; n.Float("max") != 6 || g.Main.Values[n.Out[0]].Name != "r" {
		t.Errorf("got %v", n)
	}
}

func TestParseErrors(t *testing.T) {
	const head = "bnctl graph 1\ngraph \"m\"\n"
	const x = head + "func main(x rows f32[4]) {\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", `line 1, column 1: found the end of the text, want "bnctl"`},
		{"program", "bnctl program 1\n", `line 1, column 7: found "program", want "graph"`},
		{"version", "bnctl graph 2\n", `column 13: version "2" of the text form, this program knows version 1`},
		{"no function", head, "0 functions, want one"},
		{"two functions", head + "func a() {\n}\nfunc b() {\n}\n", "2 functions, want one"},
		{"string", "bnctl graph 1\ngraph \"m\nx", "line 2, column 7: a string does not end on its line"},
		{"character", head + "func main(x rows f32[4]) {\n  é",
			`line 4, column 3: character 'Ã' has no meaning here`},
		{"to be filled in", x + "  y = relu(?)\n}", "line 4, column 12: a ? stands where the name of a value is to be filled in"},
		{"operation", x + "  y = relux(x)\n}", `line 4, column 7: unknown operation "relux"`},
		{"value", x + "  y = relu(z)\n}", `line 4, column 12: no value is called "z" up to here`},
		{"state", x + "  y = relu(@z)\n}", `line 4, column 12: function main: state z is not declared`},
		{"attribute", x + "  y = relu(x, alpha=1)\n}", `line 4, column 15: relu has no attribute "alpha"`},
		{"number", x + "  y = affine(x, by=two)\n}", `line 4, column 20: found "two", want a number`},
		{"nan", x + "  y = affine(x, by=nan)\n}", `want a number`},
		{"inference", x + "  y = reshape(x, shape=[5])\n}",
			"line 4, column 7: function main: node y (reshape): shape [5] does not hold the 4"},
		{"names", x + "  x = relu(x)\n}", `line 4, column 7: function main: two values are called "x"`},
		{"results", x + "  y, z = relu(x)\n}", "has 1 results, 2 are named"},
		{"kind", x + "  y = relu(x)\n  return y = y\n}",
			"line 5, column 14: output y is declared as whole, but \"y\" is rows f32[4]"},
		{"end", x + "  y = relu(x)\n", "line 5, column 1: found the end of the text, want a name"},
		{"twice", x + "  y = leaky_relu(x, alpha=2, alpha=3)\n}", "attribute alpha is given twice"},
		{"length", head + "func main(x rows f32[0]) {\n}", "has a length of 0"},
		{"keep", x + "  keep x rows = x\n}", "output x is kept; only programs keep outputs"},
		{"role", head + "state s f32[2] wait zeros\nfunc main() {\n}", `state s: unknown role "wait"`},
		{"rule", head + "state s f32[2] weight normal\nfunc main() {\n}",
			`rule "normal" has the arguments [], want 1 numbers`},
		{"state twice", head + "state s f32[2] weight\nstate s f32[2] weight\nfunc main() {\n}",
			"state s is declared twice"},
		{"size", head + "state s f32[1000000,1000000] weight\nfunc main() {\n}", "takes 1024 GiB or more"},
		{"many", head + "func main(x rows f32[" + strings.Repeat("1,", maxOperands+2), "more than 4096 elements"},
	} {
		_, err := ParseGraph([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(read(f, "lenet-bn.graph"))
	f.Add(read(f, "step.program"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if g, err := ParseGraph(text); err == nil {
			again, err := ParseGraph(g.Text())
			if err := cmp.Or(err, g.Check()); err != nil || !reflect.DeepEqual(again, g) {
				t.Fatalf("%v\n%s", err, g.Text())
			}
		}
		if p, err := ParseProgram(text); err == nil {
			again, err := ParseProgram(p.Text())
			if err := cmp.Or(err, p.Check()); err != nil || !reflect.DeepEqual(again, p) {
				t.Fatalf("%v\n%s", err, p.Text())
			}
		}
	})
}

// deep returns a program as large as the training program of a network of n layers.
func deep(n int) *Program {
	var table []State
	b := NewBuilder(Predict, &table)
	v := b.Input("x", Type{Rows, f32, []int{16, 32, 32}})
	for i := range n {
		w := b.Declare(State{Name: fmt.Sprintf("layer%d.conv.weight", i), DType: f32, Shape: []int{16, 16, 3, 3},
			Role: Weight, Init: Init{"he_normal", []float64{0}}})
		v = b.Op(Conv, fmt.Sprintf("layer%d.conv", i), []Value{v, w}, "pad", []int{1, 1, 1, 1})
		m := b.Declare(State{Name: fmt.Sprintf("layer%d.gamma", i), DType: f32, Shape: []int{16, 1, 1},
			Role: Gamma})
		v = b.Op(Mul, fmt.Sprintf("layer%d.mul", i), []Value{v, m})
		v = b.Op(Relu, fmt.Sprintf("layer%d.relu", i), []Value{v})
	}
	b.Output("y", v, false)
	f, err := b.Function()
	if err != nil {
		panic(err)
	}
	return &Program{"deep", table, []*Function{f}}
}

func BenchmarkParseProgram(b *testing.B) {
	text := deep(1000).Text()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ParseProgram(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	p := deep(1000)
	for b.Loop() {
		p.Text()
	}
}
