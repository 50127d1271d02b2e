package spec

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// function is the name of the function of a vector's program.
const function = "vector"

// Program returns the program of the vector, with one function.
func (v *Vector) Program() (*graph.Program, error) {
	p := &graph.Program{Name: function}
	b := graph.NewBuilder(function, &p.State)
	values := map[string]graph.Value{"": graph.None}
	for _, o := range v.Operands {
		t, err := o.graphType()
		if err != nil {
			return nil, fmt.Errorf("%s: operand %s: %w", v.Name, o.Name, err)
		}
		if o.State {
			values[o.Name] = b.Declare(graph.State{Name: o.Name, DType: t.DType, Shape: t.Shape, Role: graph.Constant})
		} else {
			values[o.Name] = b.Input(o.Name, t)
		}
	}
	for _, n := range v.Nodes {
		if err := n.build(b, values); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	for _, r := range v.Results {
		value, ok := values[r.Name]
		if !ok {
			return nil, fmt.Errorf("%s: no node has the result %s", v.Name, r.Name)
		}
		b.Output("out."+r.Name, value, false)
	}
	f, err := b.Function()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.Name, err)
	}
	p.Functions = []*graph.Function{f}
	return p, p.Check()
}

// graphType returns the type of an operand. Its shape has no leading axis.
func (a *Array) graphType() (graph.Type, error) {
	kind, err := graph.ParseKind(a.Kind)
	if err != nil {
		return graph.Type{}, err
	}
	d, err := tensor.ParseDType(a.Type)
	t := graph.Type{Kind: kind, DType: d, Shape: a.Shape}
	if err == nil && kind != graph.Whole {
		if len(a.Shape) == 0 {
			return t, fmt.Errorf("a value of kind %v has no leading axis", kind)
		}
		t.Shape = a.Shape[1:]
	}
	return t, err
}

// build adds the node to a function.
func (n *Node) build(b *graph.Builder, values map[string]graph.Value) error {
	op := graph.Op(n.Number)
	if !op.Valid() || op.String() != n.Operation {
		return fmt.Errorf("operation %q with number %d is unknown to this release", n.Operation, n.Number)
	}
	attrs, err := n.attributes(op)
	if err != nil {
		return err
	}
	var in []graph.Value
	for _, name := range n.In {
		value, ok := values[name]
		if !ok {
			return fmt.Errorf("%s: no value %q comes before it", n.Operation, name)
		}
		in = append(in, value)
	}
	out := b.Node(op, n.Out[0], attrs, in...)
	for i, value := range out {
		values[n.Out[i]] = value
	}
	return b.Err()
}

// attributes returns the attributes with the types of the operation table.
func (n *Node) attributes(op graph.Op) (graph.Attrs, error) {
	var attrs graph.Attrs
	known := (&graph.Node{Op: op}).Attributes()
	for _, a := range known {
		v, ok := n.Attributes[a.Key]
		if !ok {
			return nil, fmt.Errorf("%s: attribute %s is absent", n.Operation, a.Key)
		}
		value, err := typed(a.Val, v)
		if err != nil {
			return nil, fmt.Errorf("%s: attribute %s: %w", n.Operation, a.Key, err)
		}
		attrs = attrs.With(a.Key, value)
	}
	if len(n.Attributes) != len(known) {
		return nil, fmt.Errorf("%s: %d attributes, want %d", n.Operation, len(n.Attributes), len(known))
	}
	return op.Trim(attrs), nil
}

// typed converts v, a value read from JSON, to the Go type of example.
func typed(example, v any) (any, error) {
	list, isList := v.([]any)
	number, isNumber := v.(float64)
	switch example := example.(type) {
	case bool, string:
		if fmt.Sprintf("%T", example) == fmt.Sprintf("%T", v) {
			return v, nil
		}
	case int64:
		if isNumber && number == float64(int64(number)) {
			return int64(number), nil
		}
	case float64:
		if isNumber {
			return number, nil
		}
	case []int64:
		if isList {
			return integers(list)
		}
	case []float64:
		if isList {
			return floats(list)
		}
	}
	return nil, fmt.Errorf("%v is not of type %T", v, example)
}

func integers(list []any) (any, error) {
	out := []int64{}
	for _, x := range list {
		v, ok := x.(float64)
		if !ok || v != float64(int64(v)) {
			return nil, fmt.Errorf("%v is not an integer", x)
		}
		out = append(out, int64(v))
	}
	return out, nil
}

func floats(list []any) (any, error) {
	out := []float64{}
	for _, x := range list {
		v, ok := x.(float64)
		if !ok {
			return nil, fmt.Errorf("%v is not a number", x)
		}
		out = append(out, v)
	}
	return out, nil
}
