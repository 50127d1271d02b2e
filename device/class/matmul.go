package class

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Matrices describes the products of a graph.MatMul for one row of the batch. Each product
// multiplies an M by K matrix by a K by N matrix.
type Matrices struct {
	M, K, N                int
	TransposeA, TransposeB bool  // the matrices of the operand are stored transposed
	A, B                   []int // for each product, the index of its matrix in the operand
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

// repeated returns, for every element of the shape broadcast in row-major order, the index of the element of
// the original shape that is copied there.
func repeated(original, broadcast []int) []int {
	out := make([]int, tensor.Count(broadcast))
	for i := range out {
		rest, stride := i, 1
		for axis := len(broadcast) - 1; axis >= 0; axis-- {
			if at := axis - len(broadcast) + len(original); at >= 0 && original[at] > 1 {
				out[i] += rest % broadcast[axis] * stride
				stride *= original[at]
			}
			rest /= broadcast[axis]
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

// Define sets y to the product of two matrices. Every element is one chain of fused multiply-adds over k
// that begins with +0.
func (m Matrices) Define(y, a, b []float32) {
	for i := range y {
		sum := float32(0)
		for k := range m.K {
			sum = Fuse(a[m.InA(i/m.N, k)], b[m.InB(k, i%m.N)], sum)
		}
		y[i] = sum
	}
}
