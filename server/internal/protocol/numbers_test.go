package protocol

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestIntegersInJSON checks that integers and booleans in JSON are accepted if they are within the limits of
// their types, and refused otherwise.
func TestIntegersInJSON(t *testing.T) {
	for _, c := range []struct {
		datatype, data string
		want           tensor.Tensor
	}{
		{"INT64", "[-9223372036854775808,9223372036854775807]", tensor.Of([]int64{-1 << 63, 1<<63 - 1}, 2)},
		{"INT32", "[-2147483648,2147483647]", tensor.Of([]int32{-1 << 31, 1<<31 - 1}, 2)},
		{"INT16", "[-32768,32767]", tensor.Tensor{DType: tensor.I16, Bytes: []byte{0, 0x80, 0xff, 0x7f}}},
		{"INT8", "[-128,127]", tensor.Tensor{DType: tensor.I8, Bytes: []byte{0x80, 0x7f}}},
		{"UINT16", "[0,65535]", tensor.Tensor{DType: tensor.U16, Bytes: []byte{0, 0, 0xff, 0xff}}},
		{"UINT32", "[1,4294967295]", tensor.Tensor{DType: tensor.U32, Bytes: []byte{1, 0, 0, 0, 255, 255, 255, 255}}},
		{"BOOL", "[true,false]", tensor.Tensor{DType: tensor.Bool, Bytes: []byte{1, 0}}},
	} {
		in := Input{Name: "x", Datatype: c.datatype, Shape: []int{2}, Numbers: []byte(c.data)}
		got, err := in.Tensor()
		if err != nil || got.DType != c.want.DType || !slices.Equal(got.Bytes, c.want.Bytes) {
			t.Errorf("%s %s: %v (%v), want %v", c.datatype, c.data, got.Bytes, err, c.want.Bytes)
		}
	}
	for datatype, data := range map[string]string{"INT64": "[9223372036854775808]", "INT32": "[-2147483649]",
		"INT8": "[1.5]", "UINT16": "[-1]", "UINT64": "[1e3]", "BOOL": "[2]"} {
		in := Input{Name: "x", Datatype: datatype, Shape: []int{1}, Numbers: []byte(data)}
		if _, err := in.Tensor(); err == nil || !strings.Contains(err.Error(), `input "x": `+`"`) {
			t.Errorf("%s %s: got error %v", datatype, data, err)
		}
	}
}
