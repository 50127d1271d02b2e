package encode

import (
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// info declares a value that has a row for each sample. Its first axis has an open length,
// or length 1 in a file for one picture.
func (w *writer) info(name string, t graph.Type) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	rows := &onnxpb.TensorShapeProto_Dimension{DimParam: proto.String(batchName)}
	if w.suppress != nil {
		rows = &onnxpb.TensorShapeProto_Dimension{DimValue: proto.Int64(1)}
	}
	shape.Dim = append(shape.Dim, rows)
	for _, n := range t.Shape {
		shape.Dim = append(shape.Dim, &onnxpb.TensorShapeProto_Dimension{DimValue: proto.Int64(int64(n))})
	}
	return &onnxpb.ValueInfoProto{Name: name, Type: &onnxpb.TypeProto{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: int32(onnxpb.Number(t.DType)), Shape: shape}}}
}

// initializer adds a constant.
func (w *writer) initializer(name string, t tensor.Tensor) string {
	p := &onnxpb.TensorProto{Name: name, DataType: int32(onnxpb.Number(t.DType)), RawData: t.Bytes}
	for _, n := range t.Shape {
		p.Dims = append(p.Dims, int64(n))
	}
	w.g.Initializer = append(w.g.Initializer, p)
	return name
}

// ints adds a list of integers as a constant.
func (w *writer) ints(name string, l ...int) string {
	t := tensor.New(tensor.I64, len(l))
	for i, n := range l {
		t.I64()[i] = int64(n)
	}
	return w.initializer(w.takenNames.Free(name), t)
}

// scalar adds one number as a constant.
func (w *writer) scalar(name string, v float64) string {
	return w.initializer(w.takenNames.Free(name), tensor.Scalar(float32(v)))
}

// add adds a node with one result.
func (w *writer) add(op string, in []string, out string, attrs ...*onnxpb.AttributeProto) string {
	for len(in) > 0 && in[len(in)-1] == "" {
		in = in[:len(in)-1]
	}
	w.g.Node = append(w.g.Node, &onnxpb.NodeProto{OpType: op, Name: out, Input: in, Output: []string{out},
		Attribute: attrs})
	return out
}
