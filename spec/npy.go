package spec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// descriptions are the types of elements in headers of .npy files.
var descriptions = map[tensor.DType]string{tensor.F32: "<f4", tensor.F64: "<f8", tensor.I32: "<i4",
	tensor.I64: "<i8", tensor.U8: "|u1", tensor.I8: "|i1"}

// Encode returns the .npy file of a tensor: version 1, little-endian, C order.
func Encode(t tensor.Tensor) ([]byte, error) {
	head, err := header(t.DType, t.Shape)
	return append(head, t.Bytes...), err
}

// header returns the header of an .npy file. Its length is a multiple of 64.
func header(d tensor.DType, shape []int) ([]byte, error) {
	description, ok := descriptions[d]
	if !ok {
		return nil, fmt.Errorf("vectors have no elements of type %v", d)
	}
	axes := strings.Builder{}
	for _, n := range shape {
		fmt.Fprintf(&axes, "%d,", n)
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", description, axes.String())
	const magic = "\x93NUMPY\x01\x00"
	text += strings.Repeat(" ", 63-(len(magic)+2+len(text))%64) + "\n"
	return append(binary.LittleEndian.AppendUint16([]byte(magic), uint16(len(text))), text...), nil
}

// decode sets the elements of a from its .npy file. The header must be the one that Encode writes,
// so that no bit of a file changes unnoticed.
func (a *Array) decode(file []byte) error {
	d, err := tensor.ParseDType(a.Type)
	if err != nil {
		return err
	}
	if err := tensor.CheckShape(d, a.Shape); err != nil {
		return err
	}
	head, err := header(d, a.Shape)
	if err != nil {
		return err
	}
	elements, ok := bytes.CutPrefix(file, head)
	if !ok {
		return fmt.Errorf("the header is not the one of %s", tensor.Describe(d, a.Shape))
	}
	t := tensor.New(d, slices.Clone(a.Shape)...)
	if len(elements) != len(t.Bytes) {
		return fmt.Errorf("%d bytes follow the header, want %d", len(elements), len(t.Bytes))
	}
	copy(t.Bytes, elements)
	a.tensor = t
	return nil
}
