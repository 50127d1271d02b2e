package torch

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// view is a tensor as torch stores it: shape and strides over a storage. It
// need be neither contiguous nor the whole of its storage.
type view struct {
	store  *storage
	dtype  tensor.DType
	offset int64 // elements
	shape  []int
	stride []int64 // elements
}

// maxSpread limits how much of a storage is read in one piece for a view. The piece ends
// with the view's last element, and has at most this multiple of the view's size.
const maxSpread = 8

// check verifies that every element of v is inside its storage.
func (v *view) check() error {
	if err := tensor.CheckShape(v.dtype, v.shape); err != nil {
		return err
	}
	if len(v.shape) != len(v.stride) {
		return fmt.Errorf("%d lengths and %d strides", len(v.shape), len(v.stride))
	}
	numel := v.store.size / int64(v.dtype.Size())
	if v.offset < 0 || v.offset > numel {
		return fmt.Errorf("offset %d in %v of %d elements", v.offset, v.store, numel)
	}
	if tensor.Count(v.shape) == 0 {
		return nil
	}
	last := v.offset
	for i, n := range v.shape {
		steps := int64(n - 1)
		if v.stride[i] < 0 || steps > 0 && v.stride[i] > numel/steps {
			return fmt.Errorf("stride %d of axis %d of %v in %v of %d elements",
				v.stride[i], i, v.shape, v.store, numel)
		}
		last += steps * v.stride[i]
	}
	if last >= numel {
		return fmt.Errorf("shape %v with strides %v at offset %d ends beyond %v of %d elements",
			v.shape, v.stride, v.offset, v.store, numel)
	}
	return nil
}

// span returns the number of elements of the storage from the first to the last element of v.
func (v *view) span() int64 {
	n := int64(1)
	for i, size := range v.shape {
		n += int64(size-1) * v.stride[i]
	}
	return n
}

// contiguous reports whether the elements follow one another in row-major order.
func (v *view) contiguous() bool {
	want := int64(1)
	for i, n := range slices.Backward(v.shape) {
		if n != 1 && v.stride[i] != want {
			return false
		}
		want *= int64(n)
	}
	return true
}

// read fills dst with the elements of v: row-major, little endian.
func (v *view) read(dst []byte) error {
	if len(dst) == 0 {
		return nil
	}
	if err := v.readRaw(dst); err != nil {
		return err
	}
	if v.store.big {
		swap(dst, v.dtype.Size())
	}
	return nil
}

func (v *view) readRaw(dst []byte) error {
	e := int64(v.dtype.Size())
	if v.contiguous() {
		if int64(len(dst)) == v.store.size {
			return v.store.readAll(dst)
		}
		if err := v.store.check(); err != nil {
			return err
		}
		return v.store.readAt(dst, v.offset*e)
	}
	if err := v.store.check(); err != nil {
		return err
	}
	if span := v.span() * e; span <= maxSpread*int64(len(dst)) {
		chunk := make([]byte, span)
		if err := v.store.readAt(chunk, v.offset*e); err != nil {
			return err
		}
		return v.gather(dst, func(run []byte, at int64) error {
			copy(run, chunk[at:])
			return nil
		})
	}
	return v.gather(dst, func(run []byte, at int64) error { return v.store.readAt(run, v.offset*e+at) })
}

// gather calls fetch for every contiguous run of elements; offset is the distance of the run from
// the first element, in bytes.
func (v *view) gather(dst []byte, fetch func(run []byte, offset int64) error) error {
	e := v.dtype.Size()
	axes, run := len(v.shape), e
	if axes > 0 && v.stride[axes-1] == 1 {
		axes--
		run *= v.shape[axes]
	}
	index := make([]int, axes)
	offset := int64(0)
	for ; len(dst) > 0; dst = dst[run:] {
		if err := fetch(dst[:run], offset*int64(e)); err != nil {
			return err
		}
		for i := axes - 1; i >= 0; i-- {
			index[i]++
			offset += v.stride[i]
			if index[i] < v.shape[i] {
				break
			}
			offset -= int64(index[i]) * v.stride[i]
			index[i] = 0
		}
	}
	return nil
}

// swap turns elements of size bytes from big to little endian.
func swap(b []byte, size int) {
	for ; size > 1 && len(b) >= size; b = b[size:] {
		slices.Reverse(b[:size])
	}
}
