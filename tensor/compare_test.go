package tensor

import (
	"math"
	"strings"
	"testing"
)

func TestClose(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	negative := float32(math.Copysign(0, -1))
	f := func(v ...float32) Tensor { return Of(v, len(v)) }
	for _, c := range []struct {
		name      string
		got, want Tensor
		tol       Tolerance
		err       string // part of the message; "" if got and want are close
	}{
		{"same bits", f(1, nan), f(1, nan), Tolerance{}, ""},
		{"zeros differ in bits", f(0), f(negative), Tolerance{}, "1 of 1 elements"},
		{"zeros are close", f(0), f(negative), Tolerance{Absolute: 1e-30}, ""},
		{"relative", f(1.001, 1000.9), f(1, 1000), Tolerance{Relative: 1e-3, Absolute: 1e-6}, ""},
		{"first and worst", f(1, 2, 9), f(1, 2.5, 3), Tolerance{Absolute: 0.1},
			"2 of 3 elements of f32[3] differ: first [1]: got 2, want 2.5; worst [2]: got 9, want 3 " +
				"(off by 6, allowed 0.1)"},
		{"scale", f(3), f(0), Tolerance{Relative: 0.5, Scale: f(8)}, ""},
		{"scale of another shape", f(3), f(0), Tolerance{Relative: 0.5, Scale: f(8, 8)}, "scale"},
		{"any NaN", f(nan), f(-nan), Tolerance{Absolute: 1}, ""},
		{"NaN is far", f(nan), f(0), Tolerance{Absolute: 1e9}, "got NaN, want 0"},
		{"infinities", f(inf, -inf), f(inf, -inf), Tolerance{Absolute: 1}, ""},
		{"infinity of the other sign", f(inf), f(-inf), Tolerance{Absolute: 1}, "got +Inf, want -Inf"},
		{"infinity wanted", f(5), f(inf), Tolerance{Relative: 1}, "got 5, want +Inf"},
		{"shape", f(1), f(1, 1), Tolerance{Absolute: 1}, "got f32[1], want f32[2]"},
		{"integers", Of([]int32{1, 5}, 2), Of([]int32{1, 4}, 2), Tolerance{}, "[1]: got 5, want 4"},
		{"bytes by bits only", Of([]uint8{1}, 1), Of([]uint8{2}, 1), Tolerance{Absolute: 1}, "by their bits only"},
	} {
		err := Close(c.got, c.want, c.tol)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}
