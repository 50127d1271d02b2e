package wire

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
	"google.golang.org/protobuf/proto"
)

// EncodeProgram encodes p. Initialization rules are not sent: the host writes the state to
// the device.
func EncodeProgram(p *graph.Program) ([]byte, error) {
	out := &pb.Program{Name: p.Name}
	for _, s := range p.State {
		out.State = append(out.State, &pb.State{Name: s.Name, Role: string(s.Role),
			Type: header(tensor.Tensor{DType: s.DType, Shape: s.Shape})})
	}
	for _, f := range p.Functions {
		out.Functions = append(out.Functions, encodeFunction(f))
	}
	b, err := proto.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("program %s: %w", p.Name, err)
	}
	return b, nil
}

func encodeFunction(f *graph.Function) *pb.Function {
	out := &pb.Function{Name: f.Name, Inputs: Numbers[int32](f.Inputs)}
	for _, v := range f.Values {
		out.Values = append(out.Values, &pb.Variable{Name: v.Name, Relation: pb.Relation(v.Type.Kind),
			Type: header(tensor.Tensor{DType: v.Type.DType, Shape: v.Type.Shape}), State: v.State})
	}
	for i := range f.Nodes {
		out.Nodes = append(out.Nodes, encodeNode(&f.Nodes[i]))
	}
	for _, o := range f.Outputs {
		out.Outputs = append(out.Outputs, &pb.Output{Name: o.Name, Value: int32(o.Value), Keep: o.Keep})
	}
	for _, u := range f.Updates {
		out.Updates = append(out.Updates, &pb.Update{State: u.State, Value: int32(u.Value)})
	}
	return out
}

func encodeNode(n *graph.Node) *pb.Node {
	out := &pb.Node{Op: pb.Op(n.Op), In: Numbers[int32](n.In), Out: Numbers[int32](n.Out)}
	for _, a := range n.Attributes() {
		if !n.Implied(a) {
			out.Attributes = append(out.Attributes, encodeAttribute(a))
		}
	}
	return out
}

// DecodeProgram reads a program and checks it as device.CheckProgram does.
func DecodeProgram(b []byte) (*graph.Program, error) {
	in := &pb.Program{}
	if err := proto.Unmarshal(b, in); err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	p := &graph.Program{Name: in.Name}
	for _, s := range in.State {
		t, err := shapeOf(s.Type)
		if err != nil {
			return nil, fmt.Errorf("program %s: state %s: %w", in.Name, s.Name, err)
		}
		role := graph.Role(s.Role)
		p.State = append(p.State, graph.State{Name: s.Name, DType: t.DType, Shape: t.Shape, Role: role})
	}
	for _, f := range in.Functions {
		g, err := decodeFunction(f)
		if err != nil {
			return nil, fmt.Errorf("program %s: function %s: %w", in.Name, f.Name, err)
		}
		p.Functions = append(p.Functions, g)
	}
	return p, device.CheckProgram("", p)
}

func decodeFunction(in *pb.Function) (*graph.Function, error) {
	f := &graph.Function{Name: in.Name, Inputs: Numbers[graph.Value](in.Inputs)}
	for _, v := range in.Values {
		t, err := shapeOf(v.Type)
		if err != nil || v.Relation < 0 || v.Relation > math.MaxUint8 {
			return nil, fmt.Errorf("value %s: relation %d: %w", v.Name, v.Relation, err)
		}
		typ := graph.Type{Kind: graph.Kind(v.Relation), DType: t.DType, Shape: t.Shape}
		f.Values = append(f.Values, graph.Variable{Name: v.Name, Type: typ, State: v.State})
	}
	for i, n := range in.Nodes {
		m, err := decodeNode(n)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
		f.Nodes = append(f.Nodes, m)
	}
	for _, o := range in.Outputs {
		f.Outputs = append(f.Outputs, graph.Output{Name: o.Name, Value: graph.Value(o.Value), Keep: o.Keep})
	}
	for _, u := range in.Updates {
		f.Updates = append(f.Updates, graph.Update{State: u.State, Value: graph.Value(u.Value)})
	}
	return f, nil
}

func decodeNode(in *pb.Node) (graph.Node, error) {
	if in.Op < 0 || in.Op > math.MaxUint16 {
		return graph.Node{}, fmt.Errorf("operation %d is unknown", in.Op)
	}
	n := graph.Node{Op: graph.Op(in.Op), In: Numbers[graph.Value](in.In), Out: Numbers[graph.Value](in.Out)}
	var attrs graph.Attrs
	for _, a := range in.Attributes {
		v, err := decodeAttribute(a)
		if err != nil {
			return n, err
		}
		attrs = append(attrs, v)
	}
	n.Attrs = n.Op.Trim(attrs)
	return n, nil
}
