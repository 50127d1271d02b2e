package models

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Field is one of several inputs of a model. The graph of the model has one input, f32 [K]:
// a row holds a sample of each field, one after another in the order of Model.Fields. The
// graph slices it. See docs/adr/several-inputs.md.
type Field struct {
	Name  string
	DType tensor.DType // type in the file: f32, bool, or an integer type with numbers that float32 holds
	Shape []int        // shape of a sample; empty for a scalar
}

// fieldDTypes lists the types of fields.
var fieldDTypes = []tensor.DType{tensor.F32, tensor.I8, tensor.I16, tensor.I32, tensor.I64, tensor.U8,
	tensor.U16, tensor.U32, tensor.U64, tensor.Bool}

// Input is an input of a model for a sample: its Name, and its Type in the file.
type Input struct {
	Name string
	Type graph.Type
}

// Inputs returns the inputs of m: its fields, or the input of its graph.
func (m *Model) Inputs() (inputs []Input) {
	for _, p := range m.Fields {
		inputs = append(inputs, Input{p.Name, graph.Type{Kind: graph.Rows, DType: p.DType, Shape: p.Shape}})
	}
	if inputs == nil {
		f := m.Graph.Main
		inputs = append(inputs, Input{f.Values[f.Inputs[0]].Name, m.Input()})
	}
	return inputs
}

// DescribeInputs returns the names and types of the inputs: "image f32[3,32,32], state f32[64]".
func (m *Model) DescribeInputs() string {
	var all []string
	for _, in := range m.Inputs() {
		all = append(all, in.Name+" "+tensor.Describe(in.Type.DType, in.Type.Shape))
	}
	return strings.Join(all, ", ")
}

// CheckOneInput returns an error for a model with several inputs. rule is the beginning of
// the message, for example "training needs a model with one input".
func (m *Model) CheckOneInput(rule string) error {
	if m.Fields == nil {
		return nil
	}
	return problem.Advise("use a model with one input", "%s; model %s has %d: %s", rule, m.Architecture,
		len(m.Fields), m.DescribeInputs())
}

// checkFields checks that the fields fill the input of the graph.
func (m *Model) checkFields() error {
	if m.Fields == nil {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("model %s: %s", m.Architecture, fmt.Sprintf(format, args...))
	}
	if len(m.Fields) < 2 {
		return refuse("a list of inputs has %d, want 2 or more", len(m.Fields))
	}
	total, names := 0, map[string]bool{}
	for _, p := range m.Fields {
		if p.Name == "" || names[p.Name] {
			return refuse("two inputs are called %.80q, or an input has no name", p.Name)
		}
		names[p.Name] = true
		if !slices.Contains(fieldDTypes, p.DType) {
			return refuse("input %.80q has type %v, want one of %v", p.Name, p.DType, fieldDTypes)
		}
		n, err := tensor.Size(tensor.F32, p.Shape)
		if err != nil {
			return refuse("input %.80q: %v", p.Name, err)
		}
		if total += n / tensor.F32.Size(); n == 0 {
			return refuse("input %.80q of shape %v has no elements", p.Name, p.Shape)
		}
	}
	if t := m.Input(); t.DType != tensor.F32 || !slices.Equal(t.Shape, []int{total}) {
		return refuse("its inputs have %s, and the input of its graph is %v", problem.Plural(total, "number"), t)
	}
	return nil
}

// Pack returns rows of the graph's input, f32 [N,K], from rows of all fields in their
// order: each [N, ...] with the shape of its field. It is an error if float32 cannot
// represent a number, or if the fields have different numbers of rows.
func (m *Model) Pack(fields []tensor.Tensor) (tensor.Tensor, error) {
	if len(fields) != len(m.Fields) {
		return tensor.Tensor{}, fmt.Errorf("%s; the model has %d: %s", problem.Plural(len(fields), "input"),
			len(m.Fields), m.DescribeInputs())
	}
	width, rows := m.Input().Shape[0], 0
	var out []float32
	at := 0
	for i, p := range m.Fields {
		x, err := p.floats(fields[i])
		if err != nil {
			return tensor.Tensor{}, err
		}
		if i == 0 {
			rows = x.Shape[0]
			out = make([]float32, rows*width)
		}
		if x.Shape[0] != rows {
			return tensor.Tensor{}, problem.Advise("give the same number of rows for every input",
				"input %.80q has %s, and input %.80q has %d", p.Name, problem.Plural(x.Shape[0], "row"),
				m.Fields[0].Name, rows)
		}
		n := tensor.Count(p.Shape)
		for row := range rows {
			copy(out[row*width+at:], x.F32()[row*n:][:n])
		}
		at += n
	}
	return tensor.Of(out, rows, width), nil
}

// floats returns rows of p as f32.
func (p Field) floats(x tensor.Tensor) (tensor.Tensor, error) {
	if len(x.Shape) == 0 || x.Shape[0] < 1 || !slices.Equal(x.Shape[1:], p.Shape) {
		return x, problem.Advise("give an axis of rows, then the shape of the input",
			"input %.80q is %s; the model takes %s", p.Name, tensor.Describe(x.DType, x.Shape), p.describeRows())
	}
	if x.DType == tensor.Bool { // bytes of 0 and 1
		x.DType = tensor.U8
	}
	out, err := x.ToF32()
	if err != nil {
		return x, fmt.Errorf("input %.80q: %w", p.Name, err)
	}
	if i := inexact(x, out); i >= 0 {
		return x, problem.Advise("use whole numbers up to 16777216, and floats up to 3.4e38",
			"input %.80q: number %d of %s is beyond float32", p.Name, i, tensor.Describe(x.DType, x.Shape))
	}
	if i := p.outside(out); i >= 0 {
		return x, problem.Advise("convert the numbers", "input %.80q: number %d is %g, and the model takes %v",
			p.Name, i, out.F32()[i], p.DType)
	}
	return out, nil
}

// outside returns the position of the first number that the type of p cannot represent, or
// -1.
func (p Field) outside(x tensor.Tensor) int {
	if p.DType == tensor.F32 {
		return -1
	}
	bits, least := 8*p.DType.Size(), 0.0
	switch p.DType {
	case tensor.Bool:
		bits = 1
	case tensor.I8, tensor.I16, tensor.I32, tensor.I64:
		bits--
		least = -math.Ldexp(1, bits)
	}
	above := math.Ldexp(1, bits)
	return slices.IndexFunc(x.F32(), func(f float32) bool {
		v := float64(f)
		return !(v >= least && v < above) || v != math.Trunc(v)
	})
}

// describeRows returns the type of rows of p: "f32[N,3,32,32]".
func (p Field) describeRows() string {
	axes := []string{"N"}
	for _, n := range p.Shape {
		axes = append(axes, fmt.Sprint(n))
	}
	return fmt.Sprintf("%v[%s]", p.DType, strings.Join(axes, ","))
}

// inexact returns the position of the first number of x that differs from the one in out,
// or -1. out is x converted to f32. Floats may be rounded, but not to infinity.
func inexact(x, out tensor.Tensor) int {
	for i, v := range out.F32() {
		exact := true
		switch x.DType {
		case tensor.I64:
			exact = v < 1<<63 && int64(v) == x.I64()[i]
		case tensor.U64:
			exact = v < 1<<64 && uint64(v) == tensor.View[uint64](x)[i]
		case tensor.I32:
			exact = float64(v) == float64(x.I32()[i])
		case tensor.U32:
			exact = float64(v) == float64(tensor.View[uint32](x)[i])
		case tensor.F64:
			exact = !tensor.IsFinite(x.F64()[i]) || tensor.IsFinite(float64(v))
		}
		if !exact {
			return i
		}
	}
	return -1
}
