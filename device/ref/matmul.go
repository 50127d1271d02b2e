package ref

import "github.com/bnctl/bnctl/device/class"

// eachProduct calls do for every product of matrices: its result and its operands.
func (c *call) eachProduct(do func(m class.Matrices, y, a, b []float64)) {
	m := class.MatricesOf(c.fn, c.Node)
	out := c.out(0)
	for n := range out.lead {
		y, a, b := out.block(n), c.block(c.in(0), out.typ.Kind, n), c.block(c.in(1), out.typ.Kind, n)
		for i := range m.A {
			do(m, y[i*m.M*m.N:][:m.M*m.N], a[m.A[i]*m.M*m.K:][:m.M*m.K], b[m.B[i]*m.K*m.N:][:m.K*m.N])
		}
	}
}

// matMul computes y[i,j] = sum over k of a[i,k] * b[k,j].
func matMul(c *call) {
	c.eachProduct(func(m class.Matrices, y, a, b []float64) {
		for i := range y {
			for k := range m.K {
				y[i] += float64(a[m.InA(i/m.N, k)] * b[m.InB(k, i%m.N)])
			}
		}
	})
}

// defineMatMul computes the products as package class defines them, with float32 multiply-adds in order.
func defineMatMul(c *call) {
	c.eachProduct(func(m class.Matrices, y, a, b []float64) {
		out := make([]float32, len(y))
		m.Define(out, floats(a), floats(b))
		widen(y, out)
	})
}
