package data

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// openNPY opens npy:X.npy,Y.npy. X is [n, ...]. Bytes of shape [n, height, width, 1 or 3] are pictures;
// everything else is converted to f32. Y has integers and is [n] or [n, ...], with a label for each pixel.
// The label -1 means that it is ignored.
func openNPY(_ context.Context, s spec, opt Options) (Source, error) {
	if s.explicit {
		return nil, problem.Advise("leave the suffix off", "@%s: a pair of arrays has no parts", s.split)
	}
	xName, yName, ok := strings.Cut(s.path, ",")
	if !ok {
		return nil, fmt.Errorf("%w: want two files, npy:X.npy,Y.npy", ErrSpec)
	}
	m, err := openArray(xName, opt)
	if err != nil {
		return nil, err
	}
	y, err := readNPYFile(yName)
	if err != nil {
		return nil, err
	}
	m.info.Kind = s.kind
	return m, m.setLabels(yName, y)
}

// openArray opens the array file as samples without labels.
func openArray(name string, opt Options) (*memory, error) {
	x, err := readNPYFile(name)
	if err != nil {
		return nil, err
	}
	return arraySource(name, x, opt)
}

// arraySource is openArray for an array x that was already read.
func arraySource(name string, x tensor.Tensor, opt Options) (m *memory, err error) {
	if len(x.Shape) == 0 || x.Count() == 0 {
		return nil, fmt.Errorf("%s: %v holds no samples; want [samples, ...]", name, x)
	}
	if opt.Array != nil {
		if x, err = opt.Array(name, x); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if !IsPictures(x) {
		if x, err = x.ToF32(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	info := Info{Len: x.Shape[0], DType: x.DType, Shape: x.Shape[1:]}
	return &memory{x: x, info: info}, nil
}

// IsPictures reports whether an array has the type and the shape of pictures:
// bytes [n, height, width, 1 or 3].
func IsPictures(x tensor.Tensor) bool {
	return x.DType == tensor.U8 && len(x.Shape) == 4 && (x.Shape[3] == 1 || x.Shape[3] == 3)
}

// readNPYFile reads an .npy file that contains one array and nothing else.
func readNPYFile(name string) (tensor.Tensor, error) {
	f, err := regular.Open(name)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("%s: %w", name, stream.WithoutPath(err))
	}
	defer f.Close()
	return onlyArray(name, f)
}

// onlyArray reads an array. It is an error if more data follows.
func onlyArray(name string, src io.Reader) (tensor.Tensor, error) {
	r := bufio.NewReaderSize(src, 1<<20)
	t, err := ReadNPY(r)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := r.ReadByte(); err == nil {
		return tensor.Tensor{}, fmt.Errorf("%s: more bytes follow the array %v", name, t)
	}
	return t, nil
}

// setLabels sets the labels of the samples to y, which was read from the file name.
func (m *memory) setLabels(name string, y tensor.Tensor) error {
	if len(y.Shape) == 0 || y.Shape[0] != m.info.Len {
		return fmt.Errorf("%s: %v are no labels for %s", name, y, problem.Plural(m.info.Len, "sample"))
	}
	labels, err := toLabels(y)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	classes := int32(0)
	for _, v := range labels {
		classes = max(classes, v+1)
	}
	if classes > maxClasses {
		return fmt.Errorf("%s: label %d; at most %d classes are supported", name, classes-1, maxClasses)
	}
	m.labels, m.info.Labelled, m.info.LabelShape = labels, true, y.Shape[1:]
	m.info.Masks = classes <= MaskClasses && m.info.Pictures() && slices.Equal(y.Shape[1:], m.info.Shape[:2])
	m.info.Classes = make([]string, classes)
	for i := range m.info.Classes {
		m.info.Classes[i] = strconv.Itoa(i)
	}
	return nil
}

// toLabels converts integers and booleans to labels. Labels below -1 are errors.
func toLabels(y tensor.Tensor) ([]int32, error) {
	at, err := integersOf(y)
	if err != nil {
		return nil, err
	}
	labels := make([]int32, y.Count())
	for i := range labels {
		v := at(i)
		if v < -1 || v >= math.MaxInt32 {
			return nil, fmt.Errorf("label %d (element %d) is out of range; -1 means ignore", v, i)
		}
		labels[i] = int32(v)
	}
	return labels, nil
}

// integersOf returns a function that returns element i of an array of integers or booleans.
func integersOf(y tensor.Tensor) (element func(i int) int64, err error) {
	switch y.DType {
	case tensor.U8:
		return func(i int) int64 { return int64(y.Bytes[i]) }, nil
	case tensor.Bool:
		return func(i int) int64 { return int64(min(y.Bytes[i], 1)) }, nil
	case tensor.I8:
		return func(i int) int64 { return int64(int8(y.Bytes[i])) }, nil
	case tensor.I16:
		return func(i int) int64 { return int64(int16(binary.LittleEndian.Uint16(y.Bytes[2*i:]))) }, nil
	case tensor.U16:
		return func(i int) int64 { return int64(binary.LittleEndian.Uint16(y.Bytes[2*i:])) }, nil
	case tensor.I32:
		return func(i int) int64 { return int64(y.I32()[i]) }, nil
	case tensor.I64:
		return func(i int) int64 { return y.I64()[i] }, nil
	}
	return nil, errors.New("labels must be integers, have " + y.DType.String())
}
