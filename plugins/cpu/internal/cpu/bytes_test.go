package cpu

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/tensor"
)

// Some operations move bytes between operations of int8. They move each byte to the right place, for any
// layout of the operand and of the result.
func TestBytesThatMove(t *testing.T) {
	const ends = "b = dequantize(%, scale=0.5, zero=3)\ny = relu(b)"
	for _, c := range []opCase{
		{"taken, then cut", "", "x rows f32[6,5,4]", "q = quantize(x, scale=0.1, zero=100)\n" +
			"t = take(q, index=[0,3,1,4,2,5])\na = slice(t, begin=[3,0,0], end=[6,5,4])\n" + ends},
		{"taken of positions, then cut", "", "x rows f32[6,5,4]", "q = quantize(x, scale=0.1, zero=100)\n" +
			"t = take(q, index=[4,0,0], axis=1)\na = slice(t, begin=[1,0,1], end=[6,3,4], step=[2,1,1])\n" + ends},
		{"cut, then taken", "", "x rows f32[6,5,4]", "q = quantize(x, scale=0.1, zero=100)\n" +
			"s = slice(q, begin=[3,0,0], end=[6,5,4])\na = take(s, index=[2,0,1,1])\n" + ends},
		{"cut, taken and cut", "", "x rows f32[6,5,4]", "q = quantize(x, scale=0.1, zero=100)\n" +
			"s = slice(q, begin=[1,0,0], end=[6,5,4])\nt = take(s, index=[3,1], axis=2)\n" +
			"a = slice(t, begin=[0,1,0], end=[5,4,2])\n" + ends},
		{"by turns", "", "x rows f32[6,5,4]", "q = quantize(x, scale=0.1, zero=100)\n" +
			"d = reshape(q, shape=[2,3,5,4])\nf = transpose(d, perm=[1,0,2,3])\na = reshape(f, shape=[6,5,4])\n" + ends},
		{"by turns, and cut", "", "x rows f32[6,5,4]", "q = quantize(x, scale=0.1, zero=100)\n" +
			"p = slice(q, begin=[2,0,0], end=[6,5,4])\nd = reshape(p, shape=[2,2,5,4])\n" +
			"f = transpose(d, perm=[1,0,2,3])\ng = reshape(f, shape=[4,5,4])\n" +
			"a = slice(g, begin=[1,1,0], end=[3,5,4])\n" + ends},
		{"of pixels", "", "x rows u8[6,5,4]", "t = take(x, index=[5,0,3])\n" +
			"a = max_pool_int8(t, kernel=[2,2])\n" + ends},
		{"laid flat", "", "x rows f32[6,5,4]", "q = quantize(x, scale=0.1, zero=100)\n" +
			"t = take(q, index=[5,0,3])\nf = reshape(t, shape=[60])\na = slice(f, begin=[7], end=[50], step=[3])\n" + ends},
	} {
		p := program(t, opCase{c.name, c.state, c.inputs, strings.ReplaceAll(c.body, "%", "a") + "\n"})
		for _, rows := range [][]int{{1}, {4, 7}} {
			want := evaluate(t, ref.New("ref"), p, rows, 0, len(rows))
			for _, threads := range []int{1, 2} {
				got := evaluate(t, openSet(t, "auto", threads), p, rows, 0, len(rows))
				if !slices.EqualFunc(got, want, tensor.Equal) {
					t.Errorf("%s, rows %v, %d threads: other values than ref's", c.name, rows, threads)
				}
			}
		}
	}
}
