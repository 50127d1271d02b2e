package fold

import (
	"math"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestNonZeros: an element of any type is zero if it equals 0. -0 is zero, and NaN is not.
func TestNonZeros(t *testing.T) {
	negative, nan := math.Copysign(0, -1), math.NaN()
	half, err := tensor.FromBytes(tensor.F16, []int{4}, []byte{0, 0x80, 1, 0, 0, 0, 0, 0xbc}) // -0, least, 0, -1
	if err != nil {
		t.Fatal(err)
	}
	truths, err := tensor.FromBytes(tensor.Bool, []int{3}, []byte{0, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x    tensor.Tensor
		want []int
	}{
		{tensor.Of([]float32{0, float32(negative), 1e-45, -2, float32(nan), 0}, 6), []int{2, 3, 4}},
		{tensor.Of([]float64{negative, 0, 5e-324, nan}, 2, 2), []int{2, 3}},
		{tensor.Of([]int64{0, 1 << 56, math.MinInt64, 256, 0}, 5), []int{1, 2, 3}},
		{tensor.Of([]int32{math.MinInt32, 0, 1}, 3), []int{0, 2}},
		{tensor.Of([]int64{}, 0), nil},
		{half, []int{1, 3}},
		{truths, []int{1}},
	} {
		if got := nonZeros(c.x); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.x, got, c.want)
		}
	}
}
