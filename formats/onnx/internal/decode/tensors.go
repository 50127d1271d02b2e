package decode

import (
	"fmt"
	"unsafe"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// Initializer returns the tensor of an initializer. The elements are not copied: they stay in the file,
// in another file, or in p.
func (d *Decoder) Initializer(p *onnxpb.TensorProto, ext *External) (foreign.Tensor, error) {
	kind, shape, err := typeOf(p)
	if err != nil {
		return foreign.Tensor{}, err
	}
	size, err := tensor.Size(kind, shape)
	if err != nil {
		return foreign.Tensor{}, err
	}
	if raw, ok := d.raw[p]; ok && p.DataLocation != onnxpb.TensorProto_EXTERNAL {
		if raw.Size != int64(size) {
			return foreign.Tensor{}, fmt.Errorf("%d bytes for %s", raw.Size, tensor.Describe(kind, shape))
		}
		return foreign.NewTensor(p.Name, kind, shape, func(dst []byte) error {
			return foreign.ReadAt(d.src, dst, raw.At)
		})
	}
	if p.DataLocation == onnxpb.TensorProto_EXTERNAL {
		read, err := ext.Find(p, size)
		if err != nil {
			return foreign.Tensor{}, err
		}
		return foreign.NewTensor(p.Name, kind, shape, read)
	}
	t, err := Load(p)
	return foreign.InMemory(p.Name, t), err
}

// Peek does the same as Initializer for a tensor that will be read again: p keeps its elements.
func (d *Decoder) Peek(p *onnxpb.TensorProto, ext *External) (foreign.Tensor, error) {
	if _, inFile := d.raw[p]; inFile || p.DataLocation == onnxpb.TensorProto_EXTERNAL {
		return d.Initializer(p, ext)
	}
	return d.Initializer(&onnxpb.TensorProto{Name: p.Name, Dims: p.Dims, DataType: p.DataType,
		RawData: p.RawData, FloatData: p.FloatData, DoubleData: p.DoubleData, Int32Data: p.Int32Data,
		Int64Data: p.Int64Data, Uint64Data: p.Uint64Data}, ext)
}

// typeOf returns the type and the shape of p.
func typeOf(p *onnxpb.TensorProto) (tensor.DType, []int, error) {
	d, err := onnxpb.DType(p.DataType)
	if err != nil {
		return 0, nil, err
	}
	shape, err := element.Lengths(d, p.Dims)
	return d, shape, err
}

// Load returns the tensor with the elements stored in p, and removes them from p.
func Load(p *onnxpb.TensorProto) (tensor.Tensor, error) {
	d, shape, err := typeOf(p)
	if err != nil {
		return tensor.Tensor{}, err
	}
	if p.DataLocation == onnxpb.TensorProto_EXTERNAL {
		return tensor.Tensor{}, fmt.Errorf("external data of what is no initializer is not supported")
	}
	defer func() { p.RawData, p.FloatData, p.Int32Data, p.Int64Data = nil, nil, nil, nil }()
	if len(p.RawData) > 0 {
		t, err := tensor.FromBytes(d, shape, p.RawData)
		if err == nil && uintptr(unsafe.Pointer(unsafe.SliceData(p.RawData)))%8 != 0 {
			t = t.Clone() // views need aligned elements
		}
		return t, err
	}
	return loadTyped(p, d, shape)
}

// loadTyped reads elements from the field for their type.
func loadTyped(p *onnxpb.TensorProto, d tensor.DType, shape []int) (tensor.Tensor, error) {
	want := tensor.Count(shape)
	have := len(p.FloatData) + len(p.DoubleData) + len(p.Int64Data) + len(p.Uint64Data) + len(p.Int32Data)
	if have != want {
		return tensor.Tensor{}, fmt.Errorf("%d elements for the shape %v", have, shape)
	}
	t := tensor.New(d, shape...)
	n := 0
	switch d {
	case tensor.F32:
		n = copy(t.F32(), p.FloatData)
	case tensor.F64:
		n = copy(t.F64(), p.DoubleData)
	case tensor.I64:
		n = copy(t.I64(), p.Int64Data)
	case tensor.U64, tensor.U32:
		n = len(p.Uint64Data)
		for i, v := range p.Uint64Data {
			element.PutBits(t, i, v)
		}
	default:
		n = len(p.Int32Data)
		for i, v := range p.Int32Data {
			element.PutBits(t, i, uint64(v))
		}
	}
	if n != want {
		return tensor.Tensor{}, fmt.Errorf("the elements are not in the field of their type %v", d)
	}
	return t, nil
}
