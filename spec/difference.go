package spec

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Difference describes a result with other bits than its vector. It has the first element that
// differs.
type Difference struct {
	Vector  string `json:"vector"`
	Result  string `json:"result"`
	Element int    `json:"element"` // index in row-major order
	Index   []int  `json:"index"`
	Got     string `json:"got"` // hexadecimal bits, the highest first
	Want    string `json:"want"`
	Differ  int    `json:"differ"` // number of elements with other bits
	Of      int    `json:"of"`     // number of all elements

	got, want any
}

// String returns a sentence with both bit patterns.
func (d Difference) String() string {
	return fmt.Sprintf("%s: result %s, element %d %v: got bits %s (%v), want %s (%v); %d of %d elements differ",
		d.Vector, d.Result, d.Element, d.Index, d.Got, d.got, d.Want, d.want, d.Differ, d.Of)
}

// block is the number of elements that are compared together. If their bytes are equal, the elements are not
// compared one by one.
const block = 512

// differ compares tensors of one type and shape by bits. Any NaN equals any other NaN. The signs of
// zeros must be equal.
func differ(got, want tensor.Tensor) (d Difference, found bool) {
	size := want.DType.Size()
	d.Of = want.Count()
	for from := 0; from < d.Of; from += block {
		to := min(from+block, d.Of)
		if !bytes.Equal(got.Bytes[from*size:to*size], want.Bytes[from*size:to*size]) {
			d.add(got, want, from, to)
		}
	}
	return d, d.Differ > 0
}

// add compares elements [from, to).
func (d *Difference) add(got, want tensor.Tensor, from, to int) {
	size := want.DType.Size()
	for i := from; i < to; i++ {
		g, w := got.Bytes[i*size:][:size], want.Bytes[i*size:][:size]
		if bytes.Equal(g, w) || isNaN(got, i) && isNaN(want, i) {
			continue
		}
		if d.Differ++; d.Differ == 1 {
			d.Element, d.Index = i, indexOf(i, want.Shape)
			d.Got, d.Want, d.got, d.want = bits(g), bits(w), element(got, i), element(want, i)
		}
	}
}

// isNaN reports whether element i is NaN.
func isNaN(t tensor.Tensor, i int) bool {
	switch t.DType {
	case tensor.F32:
		v := t.F32()[i]
		return v != v
	case tensor.F64:
		return math.IsNaN(t.F64()[i])
	}
	return false
}

// bits returns little-endian bytes as a hexadecimal number.
func bits(b []byte) string {
	b = slices.Clone(b)
	slices.Reverse(b)
	return "0x" + hex.EncodeToString(b)
}

// indexOf returns the index of element i in every axis.
func indexOf(i int, shape []int) []int {
	index := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		index[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return index
}

// element returns an element as a number.
func element(t tensor.Tensor, i int) any {
	switch t.DType {
	case tensor.F32:
		return t.F32()[i]
	case tensor.F64:
		return t.F64()[i]
	case tensor.I32:
		return t.I32()[i]
	case tensor.I64:
		return t.I64()[i]
	case tensor.I8:
		return tensor.View[int8](t)[i]
	}
	return t.U8()[i]
}
