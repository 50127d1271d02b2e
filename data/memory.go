package data

import (
	"context"

	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// memory is a source with all samples in one tensor. Axis 0 is the samples.
type memory struct {
	info   Info
	x      tensor.Tensor
	labels []int32 // labels of all samples, each of the elements of LabelShape; nil without labels
	name   string  // text before the number of a sample in its name
}

// pictureInfo returns the Info for labelled pictures x, u8 [n, height, width, channels].
func pictureInfo(x tensor.Tensor, classes []string) Info {
	return Info{Len: x.Shape[0], DType: tensor.U8, Shape: x.Shape[1:], Labelled: true, Classes: classes}
}

// Info implements Source.
func (m *memory) Info() Info { return m.info }

// Sample implements Source.
func (m *memory) Sample(_ context.Context, i int) (tensor.Tensor, error) {
	row := len(m.x.Bytes) / m.info.Len
	return tensor.Tensor{DType: m.x.DType, Shape: m.info.Shape, Bytes: m.x.Bytes[i*row : (i+1)*row]}, nil
}

// Label implements Source.
func (m *memory) Label(_ context.Context, i int) ([]int32, error) {
	if m.labels == nil {
		return nil, nil
	}
	n := tensor.Count(m.info.LabelShape)
	return m.labels[i*n : (i+1)*n], nil
}

// Name implements Source.
func (m *memory) Name(i int) string { return fmt.Sprintf("%s%d", m.name, i) }

// Close implements Source.
func (m *memory) Close() error { return nil }
