package cpu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// slopeProgram returns a program with an activation after a norm and the gradients of both. The nodes in
// before are inserted before the sums of the norm. If they read the activation's gradient, it stays a
// separate node.
func slopeProgram(t *testing.T, of, shape, dy, before string) *graph.Program {
	t.Helper()
	channels, _, _ := strings.Cut(shape, ",")
	saved := "n"
	if of == "sigmoid" || of == "tanh" {
		saved = "a"
	}
	state := fmt.Sprintf("state p f32[%s,%s,1,1] constant\nstate g f32[%[1]s] constant\nstate b f32[%[1]s] constant\n",
		channels, channels)
	body := "x = conv(q, @p); m = moments(x); n = normalise(x, m, @g, @b, over=\"replica\"); a = " + of + "(n); " +
		"e = conv(z, @p); " + dy + "d = activation_grad(" + saved + ", f, of=\"" + of + "\"); " + before +
		"s = normalise_grad_sums(x, d, m, over=\"replica\"); " +
		"y = normalise_grad_input(x, d, m, s, @g, over=\"replica\"); o = conv(y, @p)"
	return program(t, opCase{of, state, fmt.Sprintf("q rows f32[%s], z rows f32[%[1]s]", shape),
		strings.ReplaceAll(body, "; ", "\n") + "\n"})
}

// TestSlopesWithSums checks the node that sums a normalisation's gradient. This node may also compute the
// gradient of the activation, and the normalised value again. The results must have the bits of separate
// nodes.
func TestSlopesWithSums(t *testing.T) {
	for i, of := range []string{"silu", "hard_swish", "mish", "gelu", "elu", "softplus", "leaky_relu",
		"hard_sigmoid", "tanh", "sigmoid"} {
		shape := []string{"24,9,7", "5,71,61", "80,9,9"}[i%3]
		for _, dy := range []string{"f = relu(e); ", "f = add(e, z); "} {
			joined, apart := slopeProgram(t, of, shape, dy, ""), slopeProgram(t, of, shape, dy, "u = relu(d); ")
			if made := masksOf(t, joined) - masksOf(t, apart); made != 1 {
				t.Errorf("%s: %d gradients are made with the sums, want 1", of, made)
			}
			for _, rows := range [][]int{{1}, {4, 7}} {
				want := evaluate(t, openSet(t, "fma", 1), apart, rows, 0, len(rows))
				for _, set := range kernel.Sets() {
					if set.Class != "fma" {
						continue
					}
					for _, threads := range []int{1, 3} {
						got := evaluate(t, openSet(t, set.Name, threads), joined, rows, 0, len(rows))
						last := len(got) - 1 // want has one more output than got: the value of the reader
						if !tensor.Equal(got[last], want[last+1]) || last > 0 && !tensor.Equal(got[0], want[0]) {
							t.Errorf("%s of %s, rows %v, %s, %d threads: other bits than node by node", of, shape, rows, set.Name,
								threads)
						}
					}
				}
			}
		}
	}
}

// masksOf counts the nodes of a program that compute a gradient and its sums together (fusion.Mask).
func masksOf(t *testing.T, p *graph.Program) (n int) {
	t.Helper()
	for _, node := range compiled(t, p).Graph().Nodes {
		if node.Op == graph.NormaliseGradSums && len(node.Out) > 1 {
			n++
		}
	}
	return n
}
