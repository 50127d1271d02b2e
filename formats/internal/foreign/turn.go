package foreign

import (
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// ChannelsFirst returns tensors of TensorFlow or Keras with their kernels in the layout of
// bnctl's graphs. Kernels of convolutions (h, w, in, out) become (out, in, h, w), and in
// 1-D (w, in, out) becomes (out, in, 1, w). Kernels of depthwise convolutions (h, w, in,
// multiplier) become (in*multiplier, 1, h, w), and matrices (in, out) become (out, in).
// Everything else stays as it is.
func ChannelsFirst(tensors []Tensor) []Tensor {
	out := make([]Tensor, len(tensors))
	for i, t := range tensors {
		out[i] = channelsFirst(t)
	}
	return out
}

func channelsFirst(t Tensor) Tensor {
	base := t.Name[strings.LastIndexAny(t.Name, "/.")+1:]
	s := t.Shape
	switch {
	case strings.HasPrefix(base, "depthwise_") && len(s) == 4:
		return turned(t, []int{s[2] * s[3], 1, s[0], s[1]}, 2, 3, 0, 1)
	case !strings.HasSuffix(base, "kernel") && !strings.HasSuffix(base, "weights"):
		return t
	case len(s) == 4:
		return turned(t, []int{s[3], s[2], s[0], s[1]}, 3, 2, 0, 1)
	case len(s) == 3:
		return turned(t, []int{s[2], s[1], 1, s[0]}, 2, 1, 0)
	case len(s) == 2:
		return turned(t, []int{s[1], s[0]}, 1, 0)
	}
	return t
}

// turned returns t with its axes permuted, so that axis i is axis perm[i] of t, and then
// reshaped to shape.
func turned(t Tensor, shape []int, perm ...int) Tensor {
	out, err := NewTensor(t.Name, t.DType, shape, func(dst []byte) error {
		src, err := t.Load()
		if err == nil {
			permute(dst, src, perm)
		}
		return err
	})
	if err != nil {
		return t // the product of the lengths is too large, so such a tensor cannot exist
	}
	return out
}

// permute copies src to dst with its axes in the order of perm.
func permute(dst []byte, src tensor.Tensor, perm []int) {
	strides := make([]int, len(perm))
	n := src.DType.Size()
	for i := len(perm) - 1; i >= 0; i-- {
		strides[i] = n
		n *= src.Shape[i]
	}
	index := make([]int, len(perm))
	width := src.DType.Size()
	for at := 0; at < len(dst); at += width {
		from := 0
		for i, axis := range perm {
			from += index[i] * strides[axis]
		}
		copy(dst[at:at+width], src.Bytes[from:])
		for i := len(perm) - 1; i >= 0; i-- {
			if index[i]++; index[i] < src.Shape[perm[i]] {
				break
			}
			index[i] = 0
		}
	}
}
