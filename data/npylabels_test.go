package data

import (
	"bytes"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// Labels may have any integer type, or be booleans.
func TestNPYLabelsOfEveryType(t *testing.T) {
	for _, c := range []struct {
		dtype tensor.DType
		bytes []byte // as NumPy writes them
		want  []int32
	}{
		{tensor.U8, []byte{0, 255, 3}, []int32{0, 255, 3}},
		{tensor.Bool, []byte{0, 1, 1}, []int32{0, 1, 1}},
		{tensor.I8, []byte{0, 0xff, 3}, []int32{0, -1, 3}},
		{tensor.I16, []byte{0, 0, 0xff, 0xff, 0x2c, 1}, []int32{0, -1, 300}},
		{tensor.U16, []byte{0, 0, 0xff, 0xff, 0x2c, 1}, []int32{0, 65535, 300}},
		{tensor.I32, []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x2c, 1, 0, 0}, []int32{0, -1, 300}},
	} {
		y := tensor.New(c.dtype, 3)
		copy(y.Bytes, c.bytes)
		src := open(t, "npy:"+npyOf(t, tensor.New(tensor.F32, 3, 2))+","+npyOf(t, y), Options{})
		var got []int32
		for i := range src.Info().Len {
			got = append(got, label(t, src, i)...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: labels %v, want %v", c.dtype, got, c.want)
		}
	}
}

// npyOf writes an array to a file and returns its name.
func npyOf(t *testing.T, x tensor.Tensor) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNPY(&b, x); err != nil {
		t.Fatal(err)
	}
	return write(t, "x.npy", b.Bytes())
}
