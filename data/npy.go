package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

const npyMagic = "\x93NUMPY"

// npyType is the type of an element, and its name in the header of a file.
type npyType struct {
	descr string
	dtype tensor.DType
}

// npyWritten are types that model outputs may have. They can be written, but ReadNPY refuses them.
var npyWritten = []npyType{{"<u4", tensor.U32}, {"<u8", tensor.U64}}

// npyTypes are the types that ReadNPY and WriteNPY support. The types in the second line are only used for
// labels.
var npyTypes = []npyType{
	{"<f4", tensor.F32}, {"<f8", tensor.F64}, {"<i4", tensor.I32}, {"<i8", tensor.I64}, {"|u1", tensor.U8},
	{"|b1", tensor.Bool}, {"|i1", tensor.I8}, {"<i2", tensor.I16}, {"<u2", tensor.U16},
}

// ReadNPY returns an array in NumPy's format (NEP 1). It supports versions 1 to 3, C and Fortran order, and
// the little-endian types f4, f8, i1 to i8, u1, u2 and b1. It reads no bytes after the array.
func ReadNPY(r io.Reader) (tensor.Tensor, error) {
	text, err := readNPYHeader(r)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("npy header: %w", err)
	}
	h, err := parseNPYHeader(text)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("npy header: %w", err)
	}
	t, err := readElements(r, h.dtype, h.shape)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("npy array %s: %w", tensor.Describe(h.dtype, h.shape), err)
	}
	if h.fortran {
		t = fromFortran(t)
	}
	return t, nil
}

// WriteNPY writes t in NumPy's format, version 1.
func WriteNPY(w io.Writer, t tensor.Tensor) error {
	if err := WriteNPYHeader(w, t.DType, t.Shape); err != nil {
		return err
	}
	_, err := w.Write(t.Bytes)
	return err
}

// WriteNPYHeader writes the header of an array in NumPy's format. The elements follow
// it, row-major and little-endian.
func WriteNPYHeader(w io.Writer, d tensor.DType, shape []int) error {
	known := slices.Concat(npyTypes, npyWritten)
	i := slices.IndexFunc(known, func(n npyType) bool { return n.dtype == d })
	if i < 0 {
		return problem.Advise("convert it to f32", "npy: a %v array cannot be written", d)
	}
	axes := strings.Builder{}
	for _, n := range shape {
		fmt.Fprintf(&axes, "%d,", n)
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", known[i].descr,
		axes.String())
	// The length of the whole header, with magic, version, length and text ended by a line feed, is a multiple
	// of 64.
	const before = len(npyMagic) + 4
	dict += strings.Repeat(" ", (64-(before+len(dict)+1)%64)%64) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte(npyMagic+"\x01\x00"), uint16(len(dict)))
	_, err := w.Write(append(head, dict...))
	return err
}

// readNPYHeader returns the text of the header of an .npy file.
func readNPYHeader(r io.Reader) (string, error) {
	var fixed [len(npyMagic) + 2]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return "", stream.CutShort(err)
	}
	if string(fixed[:len(npyMagic)]) != npyMagic {
		return "", errors.New("this is no .npy file")
	}
	size := 4 // number of bytes that store the length of the header
	switch version := fixed[len(npyMagic)]; version {
	case 1:
		size = 2
	case 2, 3:
	default:
		return "", fmt.Errorf("version %d is not supported (1 to 3 are)", version)
	}
	var number [4]byte
	if _, err := io.ReadFull(r, number[:size]); err != nil {
		return "", stream.CutShort(err)
	}
	length := binary.LittleEndian.Uint32(number[:])
	if length > maxHeaderBytes {
		return "", fmt.Errorf("it claims %s; at most %d are read", problem.Plural(int(length), "byte"),
			maxHeaderBytes)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", stream.CutShort(err)
	}
	return string(text), nil
}

// readElements reads the elements of a tensor. Its memory grows with the data that arrives, not with the size
// that the header declares.
func readElements(r io.Reader, d tensor.DType, shape []int) (tensor.Tensor, error) {
	n, err := tensor.Size(d, shape)
	if err != nil {
		return tensor.Tensor{}, err
	}
	const step = 16 << 20
	if n <= step {
		t := tensor.New(d, shape...)
		_, err := io.ReadFull(r, t.Bytes)
		return t, stream.CutShort(err)
	}
	b := make([]byte, step)
	for have := 0; ; {
		if _, err := io.ReadFull(r, b[have:]); err != nil {
			return tensor.Tensor{}, stream.CutShort(err)
		}
		if have = len(b); have == n {
			return tensor.FromBytes(d, shape, b)
		}
		b = append(b, make([]byte, min(n-have, have))...)
	}
}

// fromFortran returns the elements of t in row-major order. In t they are stored with the first axis fastest.
func fromFortran(t tensor.Tensor) tensor.Tensor {
	out := tensor.New(t.DType, t.Shape...)
	size := t.DType.Size()
	index := make([]int, len(t.Shape)) // index of the current element of out
	stride := make([]int, len(t.Shape))
	for axis, n := 0, 1; axis < len(stride); axis++ {
		stride[axis] = n
		n *= t.Shape[axis]
	}
	from := 0
	for to := 0; to < len(out.Bytes); to += size {
		copy(out.Bytes[to:to+size], t.Bytes[from*size:])
		for axis := len(index) - 1; axis >= 0; axis-- {
			index[axis]++
			from += stride[axis]
			if index[axis] < t.Shape[axis] {
				break
			}
			from -= index[axis] * stride[axis]
			index[axis] = 0
		}
	}
	return out
}
