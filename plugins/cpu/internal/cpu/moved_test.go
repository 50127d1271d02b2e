package cpu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// movedCases are functions that move elements, like those at the end of detectors. over is the number of
// results that use the memory of an operand, and inOrder is the number of values that are stored in the
// order of their shape.
var movedCases = []struct {
	opCase
	over, inOrder int
}{
	{opCase{"a map becomes rows of boxes", "state w f32[10,6,1,1] constant\n", "x rows f32[6,9,7]",
		"a = conv(x, @w); r = reshape(a, shape=[10,63]); t = transpose(r, perm=[1,0]); " +
			"b = slice(t, begin=[0,0], end=[63,4]); c = slice(t, begin=[0,4], end=[63,10]); " +
			"m = reduce_max(c, axes=[1], keep=true); e = compare(c, m, of=\"equal\"); " +
			"y = concat(b, e, m, axis=1)"}, 3, 6},
	{opCase{"two maps become rows of boxes", "state w f32[10,6,1,1] constant\n", "x rows f32[6,8,6]",
		"a = conv(x, @w); r = reshape(a, shape=[10,48]); d = conv(x, @w, stride=[2,2]); " +
			"s = reshape(d, shape=[10,12]); j = concat(r, s, axis=1); " +
			"t = transpose(j, perm=[1,0]); y = affine(t, by=3)"}, 4, 2},
	{opCase{"anchors", "state w f32[12,6,1,1] constant\n", "x rows f32[6,5,4]",
		"a = conv(x, @w); r = reshape(a, shape=[3,4,5,4]); t = transpose(r, perm=[2,3,0,1]); " +
			"y = reshape(t, shape=[60,4])"}, 1, 3},
	{opCase{"a batch within a row", "state w f32[6,3,1,1] constant\nstate mean f32[3,1,1] constant\n",
		"x rows f32[3,9,7]",
		"a = sub(x, @mean); b = reshape(a, shape=[1,3,9,7]); c = reshape(b, shape=[3,9,7]); d = relu(c); " +
			"e = reshape(d, shape=[1,3,9,7]); f = slice(e, begin=[0,0,0,0], end=[1,3,9,7]); " +
			"g = reshape(f, shape=[3,9,7]); y = conv(g, @w)"}, 5, 7},
	{opCase{"a result that is read twice", "", "x rows f32[6,8]",
		"t = transpose(x, perm=[1,0]); r = reshape(t, shape=[48,1]); s = reshape(t, shape=[3,16]); " +
			"q = reshape(s, shape=[48,1]); y = add(r, q)"}, 3, 6},
	{opCase{"every other pixel, as YOLO's first layer", "state w f32[5,12,1,1] constant\n", "x rows f32[3,8,6]",
		"a = slice(x, begin=[0,0,0], end=[3,8,6], step=[1,2,2]); " +
			"b = slice(x, begin=[0,1,0], end=[3,8,6], step=[1,2,2]); " +
			"c = slice(x, begin=[0,0,1], end=[3,8,6], step=[1,2,2]); " +
			"d = slice(x, begin=[0,1,1], end=[3,8,6], step=[1,2,2]); " +
			"j = concat(a, b, c, d, axis=0); v = conv(j, @w); r = reshape(v, shape=[5,12]); " +
			"y = transpose(r, perm=[1,0])"}, 2, 5},
	{opCase{"nothing is added", "state w f32[5,3,1,1] constant\n", "x rows f32[3,8,6]",
		"a = relu(x); b = pad(a, before=[0,0,0], after=[0,0,0], value=0); c = concat(b, axis=0); y = conv(c, @w)"}, 2, 0},
	{opCase{"and of a picture copied in turns", "state w f32[5,12,1,1] constant\n", "x rows f32[3,200,180]",
		"a = slice(x, begin=[0,0,0], end=[3,200,180], step=[1,2,2]); " +
			"b = slice(x, begin=[0,1,0], end=[3,200,180], step=[1,2,2]); " +
			"c = slice(x, begin=[0,0,1], end=[3,200,180], step=[1,2,2]); " +
			"d = slice(x, begin=[0,1,1], end=[3,200,180], step=[1,2,2]); " +
			"j = concat(a, b, c, d, axis=0); v = conv(j, @w); r = reshape(v, shape=[5,9000]); " +
			"y = transpose(r, perm=[1,0])"}, 2, 5},
}

// TestMovesInPlace checks that a move that leaves every element in place copies nothing, and that values
// are the same in any layout.
func TestMovesInPlace(t *testing.T) {
	for _, c := range movedCases {
		p := program(t, opCase{c.name, c.state, c.inputs, strings.ReplaceAll(c.body, "; ", "\n") + "\n"})
		inOrder, f := 0, compiled(t, p)
		for v := range f.Graph().Values {
			if v := f.Value(graph.Value(v)); v.Kind == graph.Rows && len(v.Shape) > 1 && !v.Last {
				inOrder++
			}
		}
		if n := overOf(t, p); n != c.over || inOrder != c.inOrder {
			t.Errorf("%s: %d results have the place of an operand, and %d the order of their shape, want %d and %d",
				c.name, n, inOrder, c.over, c.inOrder)
		}
		for _, rows := range [][]int{{1}, {3}, {4, 7}} {
			want := evaluate(t, ref.New("ref"), p, rows, 0, len(rows))[0]
			apart := evaluate(t, openSet(t, "auto", 1), oneByOne(t, p), rows, 0, len(rows))[0]
			if d := difference(apart, want); !(d < 1e-5) {
				t.Errorf("%s, rows %v: differs from ref by %.2g", c.name, rows, d)
			}
			for _, threads := range []int{1, 2, 3} {
				if got := evaluate(t, openSet(t, "auto", threads), p, rows, 0, len(rows))[0]; !tensor.Equal(got, apart) {
					t.Errorf("%s, rows %v, %d threads: other bits than node by node", c.name, rows, threads)
				}
			}
		}
	}
}

// Maxima and minima over lines that are contiguous in memory have the bits of ref. Lines up to a maximum
// length are transposed, some lines at a time. The cases are on both sides of this length and of this
// number of lines.
func TestExtremesOfLines(t *testing.T) {
	for _, n := range []int{1, 2, 17, 80, 127, 128, 129, 256, 257} {
		for _, lines := range []int{1, 16, 63, 65, 200} {
			for _, c := range []string{
				fmt.Sprintf("x rows f32[%d,%d]|axes=[1]", lines, n),     // lines over the pixels of each channel
				fmt.Sprintf("x rows f32[%d,%d]|axes=[0]", n, lines),     // lines over the channels of each pixel
				fmt.Sprintf("x rows f32[%d,%d,1]|axes=[0]", n, lines),   // the same with a third axis
				fmt.Sprintf("x rows f32[2,%d,%d]|axes=[2]", lines, n),   // no contiguous lines
				fmt.Sprintf("x rows f32[%d,2,%d]|axes=[0,2]", n, lines), // no contiguous lines
			} {
				inputs, axes, _ := strings.Cut(c, "|")
				for _, of := range []string{"max", "min"} {
					in := opCase{c, "", inputs, fmt.Sprintf("z = relu(x)\nt = transpose(z, perm=%s)\n"+
						"y = reduce_%s(z, %s, keep=%v)\ns = reduce_%s(t, axes=[%s])\n", reversed(inputs), of, axes,
						lines%2 == 0, of, last(inputs))}
					p := program(t, in)
					want := evaluate(t, ref.New("ref"), p, []int{2}, 0, 1)
					for _, set := range kernel.Sets() {
						threads := 1 + (n+lines)%3
						got := evaluate(t, openSet(t, set.Name, threads), p, []int{2}, 0, 1)
						for i := range want {
							if !tensor.Equal(got[i], want[i]) {
								t.Fatalf("%s of %s, %s, %d threads: other bits than ref", of, c, set.Name, threads)
							}
						}
					}
				}
			}
		}
	}
}

// reversed returns the permutation that reverses the axes of a case's operand. last returns its last axis.
func reversed(inputs string) string {
	if strings.Count(inputs, ",") == 1 {
		return "[1,0]"
	}
	return "[2,1,0]"
}

func last(inputs string) string {
	return fmt.Sprint(strings.Count(inputs, ","))
}

// Operands with one element for each position have the bits of ref in both layouts. Such operands are
// repeated as patterns of a maximum length, and the cases are on both sides of it.
func TestOperandsOfPositions(t *testing.T) {
	for _, n := range []int{1, 2, 3, 80, 511, 512, 513, 1023, 1024, 1025, 2500} {
		for _, lines := range []int{1, 2, 7, 130} {
			inputs := fmt.Sprintf("x rows f32[%d,%d], p rows f32[%d,1], m rows f32[%d,%d], q rows f32[1,%d]",
				lines, n, lines, n, lines, lines)
			state := fmt.Sprintf("state s f32[1,%d] constant\nstate c f32[%d,1] constant\n", lines, n)
			p := program(t, opCase{inputs, state, inputs,
				"t = transpose(x, perm=[1,0])\nr = transpose(t, perm=[1,0])\na = sub(r, p)\n" +
					"b = compare(p, a, of=\"less\")\nd = where(b, p, a)\ne = mul(m, q)\n" +
					"f = add(@s, e)\ng = max(f, @c)\nh = where(@s, g, q)\n"})
			want := evaluate(t, ref.New("ref"), p, []int{2}, 0, 1)
			for _, set := range kernel.Sets() {
				threads := 1 + (n+lines)%3
				got := evaluate(t, openSet(t, set.Name, threads), p, []int{2}, 0, 1)
				for i := range want {
					if !tensor.Equal(got[i], want[i]) {
						t.Fatalf("%d lines of %d, output %d, %s, %d threads: other bits than ref", lines, n, i,
							set.Name, threads)
					}
				}
			}
		}
	}
}
