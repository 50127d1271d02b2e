package class

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Matrices are the products of a graph.MatMul for one row: each of M by K times K by N.
type Matrices struct {
	M, K, N                int
	TransposeA, TransposeB bool  // the operand holds its matrices transposed
	A, B                   []int // for each product, the number of its matrix in the operand
}

// MatricesOf returns the products of a node of fn.
func MatricesOf(fn *graph.Function, n *graph.Node) Matrices {
	shape := func(v graph.Value) []int { return fn.Values[v].Type.Shape }
	a, b, y := shape(n.In[0]), shape(n.In[1]), shape(n.Out[0])
	m := Matrices{M: y[len(y)-2], N: y[len(y)-1], TransposeA: n.Bool("transpose_a"),
		TransposeB: n.Bool("transpose_b")}
	if m.K = a[len(a)-1]; m.TransposeA {
		m.K = a[len(a)-2]
	}
	leading := y[:len(y)-2]
	m.A, m.B = repeated(a[:len(a)-2], leading), repeated(b[:len(b)-2], leading)
	return m
}

// repeated returns, for every element of shape to in its order, the element of shape from that
// broadcasting repeats there.
func repeated(from, to []int) []int {
	out := make([]int, tensor.Count(to))
	for i := range out {
		rest, stride := i, 1
		for axis := len(to) - 1; axis >= 0; axis-- {
			if at := axis - len(to) + len(from); at >= 0 && from[at] > 1 {
				out[i] += rest % to[axis] * stride
				stride *= from[at]
			}
			rest /= to[axis]
		}
	}
	return out
}

// InA returns the index of element (i, k) of the left matrix.
func (m Matrices) InA(i, k int) int {
	if m.TransposeA {
		return k*m.M + i
	}
	return i*m.K + k
}

// InB returns the index of element (k, j) of the right matrix.
func (m Matrices) InB(k, j int) int {
	if m.TransposeB {
		return j*m.K + k
	}
	return k*m.N + j
}

// Define sets y to the product of two matrices: every element is one chain over k, from +0.
func (m Matrices) Define(y, a, b []float32) {
	for i := range y {
		sum := float32(0)
		for k := range m.K {
			sum = Fuse(a[m.InA(i/m.N, k)], b[m.InB(k, i%m.N)], sum)
		}
		y[i] = sum
	}
}
