package devicetest

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// matmuls are products of matrices: plain or transposed, with equal or broadcast leading axes, and
// of kinds rows and whole.
var matmuls = []struct {
	name         string
	a, b         operand
	turnA, turnB bool
	k            int
}{
	{"3x5 by 5x7", rows(3, 5), rows(5, 7), false, false, 5},
	{"scores of 3 heads", rows(3, 13, 17), rows(3, 66, 17), false, true, 17},
	{"values of 3 heads", rows(3, 13, 66), rows(3, 66, 17), false, false, 66},
	{"a gradient, left transposed", rows(2, 37, 5), rows(2, 37, 130), true, false, 37},
	{"both transposed", rows(9, 4), rows(70, 9), true, true, 9},
	{"leading axes repeated", rows(2, 1, 3, 4), rows(5, 4, 6), false, false, 4},
	{"leading axes repeated, transposed", rows(5, 4, 3), rows(2, 1, 6, 4), true, true, 4},
	{"rows by a matrix of the whole", rows(2, 7, 19), whole(19, 33), false, false, 19},
	{"a matrix of the whole by rows", whole(5, 9), rows(2, 9, 18), false, false, 9},
	{"67x41 by 41x131", rows(67, 41), rows(41, 131), false, false, 41},
	{"whole", whole(2, 5, 4), whole(2, 3, 4), false, true, 4},
	{"one by one", rows(1, 1), rows(1, 1), false, true, 1},
	{"2^-60 to 2^60", rows(4, 33).filledBy(extreme), rows(33, 5).filledBy(extreme), false, false, 33},
}

// leadings are dense layers with leading axes: the axes of the input, and outputs.
var leadings = []struct {
	in  []int
	out int
}{{[]int{5, 33}, 17}, {[]int{2, 3, 16}, 70}, {[]int{65, 64, 3}, 2}, {[]int{1, 40}, 1}}

// matMulProbes returns the probes of both products.
func matMulProbes() (probes []probe) {
	for _, m := range matmuls {
		probes = append(probes, probe{m.name, graph.MatMul, []any{"transpose_a", m.turnA, "transpose_b", m.turnB},
			[]operand{m.a, m.b}, products(m.k)})
	}
	for _, l := range leadings {
		n := len(l.in) - 1
		k := l.in[n]
		x, dy, w := rows(l.in...), rows(append(l.in[:n:n], l.out)...), whole(l.out, k)
		attrs, name := []any{"leading", n}, fmt.Sprintf("%v to %d", l.in, l.out)
		positions := 1
		for _, length := range l.in[:n] {
			positions *= length
		}
		probes = append(probes,
			probe{name + ", bias", graph.Dense, attrs, []operand{x, w, whole(l.out)}, products(k + 1)},
			probe{name, graph.DenseGradInput, attrs, []operand{dy, w}, products(l.out)},
			probe{name, graph.DenseGradWeight, attrs, []operand{x, dy}, products(3 * positions)})
	}
	return probes
}
