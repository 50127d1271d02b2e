package caffe

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/tensor"
)

// param is a message with the settings of a layer, still encoded: nil if it is absent,
// which means the defaults.
type param []byte

// maxSetting is the largest size, stride or padding of a layer.
const maxSetting = 1 << 20

// uints returns the values of a repeated field of numbers.
func (p param) uints(field int) ([]int, error) {
	var out []int
	err := message.Walk(p, func(f message.Field) error {
		if f.Number != field {
			return nil
		}
		values, err := f.Varints(maxBlobs)
		for _, v := range values {
			if v > maxSetting {
				return fmt.Errorf("field %d is %d; at most %d is supported", field, int64(v), maxSetting)
			}
			out = append(out, int(v))
		}
		if len(out) > maxBlobs {
			return fmt.Errorf("field %d has more than %d values", field, maxBlobs)
		}
		return err
	})
	return out, err
}

// uint returns the last value of a field, or def if it is absent.
func (p param) uint(field, def int) (int, error) {
	v, err := p.uints(field)
	if err != nil || len(v) == 0 {
		return def, err
	}
	return v[len(v)-1], nil
}

// axis returns a field with the number of an axis. A negative number counts from the end of
// the rank axes.
func (p param) axis(field, def, rank int) (int, error) {
	v, err := p.signed(field, def)
	if v < 0 {
		v += rank
	}
	if err == nil && (v < 0 || v >= rank) {
		err = fmt.Errorf("axis %d of %d", v, rank)
	}
	return v, err
}

// signed returns the last value of a field that may be negative, or def if it is absent.
func (p param) signed(field, def int) (int, error) {
	v := int64(def)
	err := message.Walk(p, func(f message.Field) error {
		if f.Number != field {
			return nil
		}
		v = int64(f.Bits)
		return f.Want(message.Varint)
	})
	if err == nil && (v < -maxSetting || v > maxSetting) {
		err = fmt.Errorf("field %d is %d; %d to %d are supported", field, v, -maxSetting, maxSetting)
	}
	return int(v), err
}

// floats returns the values of a repeated field of floats that is not packed.
func (p param) floats(field int) ([]float64, error) {
	var out []float64
	err := message.Walk(p, func(f message.Field) error {
		if f.Number != field {
			return nil
		}
		if err := f.Want(message.Fixed32); err != nil {
			return err
		}
		if out = append(out, float64(math.Float32frombits(uint32(f.Bits)))); len(out) > maxBlobs {
			return fmt.Errorf("field %d has more than %d values", field, maxBlobs)
		}
		return nil
	})
	return out, err
}

// float returns the last value of a field of floats, or def if it is absent.
func (p param) float(field int, def float64) (float64, error) {
	v, err := p.floats(field)
	if err != nil || len(v) == 0 {
		return def, err
	}
	return v[len(v)-1], nil
}

// pair returns a setting with a value for the height and one for the width. The setting is
// stored in one of two ways: in a repeated field with one value for both or with two
// values, or in the single fields height and width. It is an error if both are present. If
// a setting has no single fields, height and width are 0.
func (p param) pair(repeated, height, width, def int) ([2]int, error) {
	const none = -1
	v, err1 := p.uints(repeated)
	h, err2 := p.uint(height, none)
	w, err3 := p.uint(width, none)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return [2]int{}, err
	}
	switch n := len(v); {
	case n > 2, n > 0 && (h != none || w != none):
		return [2]int{}, fmt.Errorf("field %d has %d values beside %d and %d, want 1 or 2 of it, or these",
			repeated, n, height, width)
	case n > 0:
		return [2]int{v[0], v[n-1]}, nil
	}
	out := [2]int{def, def}
	for i, x := range []int{h, w} {
		if x != none {
			out[i] = x
		}
	}
	return out, nil
}

// lengths reads a BlobShape. Its lengths may be 0 or -1.
func (p param) lengths(field int) ([]int, error) {
	shapes, err := p.messages(field)
	if err != nil || len(shapes) == 0 {
		return nil, err
	}
	var out []int
	err = message.Walk(shapes[0], func(f message.Field) error {
		values, err := f.Varints(tensor.MaxRank)
		for _, v := range values {
			if int64(v) < -1 || int64(v) > math.MaxInt32 || len(out) == tensor.MaxRank {
				return fmt.Errorf("length %d, or more than %d of them", int64(v), tensor.MaxRank)
			}
			out = append(out, int(int64(v)))
		}
		return err
	})
	return out, err
}

// messages returns the values of a repeated field of messages.
func (p param) messages(field int) ([][]byte, error) {
	var out [][]byte
	err := message.Walk(p, func(f message.Field) error {
		if f.Number != field {
			return nil
		}
		if out = append(out, f.Bytes); len(out) > maxBlobs {
			return fmt.Errorf("field %d has more than %d values", field, maxBlobs)
		}
		return f.Want(message.Bytes)
	})
	return out, err
}
