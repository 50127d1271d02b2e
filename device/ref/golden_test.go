package ref_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// golden is one line of testdata/golden.json: a node with its operands, and PyTorch's results.
type golden struct {
	Op    string
	Name  string
	Attrs map[string]any
	In    []*goldenTensor
	Out   [][]float64
}

type goldenTensor struct {
	Kind, DType string
	Shape       []int
	Data        []float64
}

// tensor returns the operand, and its type in a graph.
func (g *goldenTensor) tensor(t *testing.T) (tensor.Tensor, graph.Type) {
	t.Helper()
	d, err := tensor.ParseDType(g.DType)
	if err != nil {
		t.Fatal(err)
	}
	kind, err := graph.ParseKind(g.Kind)
	if err != nil {
		t.Fatal(err)
	}
	typ := graph.Type{Kind: kind, DType: d, Shape: g.Shape}
	if kind != graph.Whole {
		typ.Shape = g.Shape[1:]
	}
	return filled(d, g.Shape, g.Data), typ
}

// filled returns a tensor with the given values.
func filled(d tensor.DType, shape []int, values []float64) tensor.Tensor {
	x := tensor.New(d, shape...)
	for i, v := range values {
		switch d {
		case tensor.F32:
			x.F32()[i] = float32(v)
		case tensor.F64:
			x.F64()[i] = v
		default:
			x.I32()[i] = int32(v)
		}
	}
	return x
}

// attrs returns the attributes. A JSON number is an integer if it is written as one, and
// otherwise a float.
func (g *golden) attrs() graph.Attrs {
	var a graph.Attrs
	for key, v := range g.Attrs {
		switch v := v.(type) {
		case json.Number:
			if i, err := v.Int64(); err == nil {
				a = a.With(key, i)
			} else {
				f, _ := v.Float64()
				a = a.With(key, f)
			}
		case []any:
			a = withList(a, key, v)
		default:
			a = a.With(key, v)
		}
	}
	return a
}

// withList adds a list of integers, or of floats if an element is not an integer.
func withList(a graph.Attrs, key string, v []any) graph.Attrs {
	var integers []int64
	var floats []float64
	for _, x := range v {
		f, _ := x.(json.Number).Float64()
		floats = append(floats, f)
		if i, err := x.(json.Number).Int64(); err == nil {
			integers = append(integers, i)
		}
	}
	if len(integers) == len(floats) {
		return a.With(key, integers)
	}
	return a.With(key, floats)
}

// program returns a program of the one node, and its inputs.
func (g *golden) program(t *testing.T) (*graph.Program, []tensor.Tensor) {
	t.Helper()
	p := &graph.Program{Name: "golden"}
	b := graph.NewBuilder("golden", &p.State)
	var in []graph.Value
	var inputs []tensor.Tensor
	for i, o := range g.In {
		if o == nil {
			in = append(in, graph.None)
			continue
		}
		x, typ := o.tensor(t)
		in, inputs = append(in, b.Input(fmt.Sprintf("x%d", i), typ)), append(inputs, x)
	}
	for i, v := range b.Node(op(g.Op), "y", g.attrs(), in...) {
		b.Output(fmt.Sprintf("y%d", i), v, false)
	}
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	p.Functions = []*graph.Function{f}
	return p, inputs
}

func op(name string) graph.Op {
	for _, o := range ref.Ops() {
		if o.String() == name {
			return o
		}
	}
	return 0
}

// run loads a program and runs its first function.
func run(t *testing.T, p *graph.Program, rows []int, inputs ...tensor.Tensor) []tensor.Tensor {
	t.Helper()
	return runAt(t, device.F32, p, rows, inputs...)
}

// runAt is like run, on a device that is opened at a precision.
func runAt(t *testing.T, precision string, p *graph.Program, rows []int,
	inputs ...tensor.Tensor) []tensor.Tensor {
	t.Helper()
	d, err := ref.Provider{}.Open(t.Context(), device.DefaultID, device.Options{Precision: precision})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x, err := d.Load(t.Context(), p, device.Capacity{Rows: 64, Replicas: 8})
	if err != nil {
		t.Fatal(err)
	}
	o, err := x.Run(t.Context(), device.Step{Function: p.Functions[0].Name, Rows: rows, Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	return o.Outputs
}

// rounding is the error of storing PyTorch's float64 operands and results as f32.
var rounding = tensor.Tolerance{Absolute: 2e-7, Relative: 4e-7}

func TestGoldens(t *testing.T) { checkGoldens(t, "testdata/golden.json", device.F32) }

func TestGoldensBF16(t *testing.T) { checkGoldens(t, "testdata/bfloat16.json", device.BF16) }

func checkGoldens(t *testing.T, path, precision string) {
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(file))
	lines.Buffer(nil, len(file))
	for lines.Scan() {
		var g golden
		d := json.NewDecoder(strings.NewReader(lines.Text()))
		d.UseNumber()
		if err := d.Decode(&g); err != nil {
			t.Fatal(err)
		}
		t.Run(g.Op+" "+g.Name, func(t *testing.T) { g.check(t, precision) })
	}
}

func (g *golden) check(t *testing.T, precision string) {
	p, inputs := g.program(t)
	var rows []int
	if g.In[0].Kind == "rows" {
		rows = []int{g.In[0].Shape[0]}
	}
	got := runAt(t, precision, p, rows, inputs...)
	if len(got) != len(g.Out) {
		t.Fatalf("%d results, want %d", len(got), len(g.Out))
	}
	for i, want := range g.Out {
		if len(want) != got[i].Count() {
			t.Fatalf("result %d is %v, want %d elements", i, got[i], len(want))
		}
		if err := tensor.Close(got[i], filled(got[i].DType, got[i].Shape, want), rounding); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
}
