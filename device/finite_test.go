package device

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

func TestFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, v := range []float32{0, -1, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, inf,
		-inf, nan, math.Float32frombits(0xffffffff), math.Float32frombits(0x7f800001)} {
		bad := math.IsInf(float64(v), 0) || v != v
		for n := 1; n < 20; n++ {
			for at := range n {
				x := tensor.New(tensor.F32, n)
				x.F32()[at] = v
				err := Finite("w", x)
				want := fmt.Sprintf("w: channel %d, element %d is %v (1 of %d elements)", at, at, v, n)
				if (err != nil) != bad || bad && err.Error() != want {
					t.Fatalf("%v at %d of %d: %v, want %q", v, at, n, err, want)
				}
			}
		}
	}
	x := tensor.New(tensor.F32, 4, 3)
	x.F32()[7], x.F32()[8] = nan, inf
	if err := Finite("w", x); err == nil || !strings.Contains(err.Error(), "channel 2, element 7 is NaN (2 of 12") {
		t.Error(err)
	}
	if err := Finite("none", tensor.New(tensor.F32, 0, 3)); err != nil {
		t.Error(err)
	}
}

func BenchmarkAllFinite(b *testing.B) {
	x := make([]float32, 270_000) // about the number of parameters of resnet20
	b.SetBytes(int64(4 * len(x)))
	for range b.N {
		AllFinite(x)
	}
}
