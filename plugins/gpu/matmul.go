package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// matMulOps has the product of two computed matrices.
var matMulOps = map[graph.Op]func(c *compiler){graph.MatMul: buildMatMul}

// buildMatMul launches a group of threads for each block of each product of a unit.
func buildMatMul(c *compiler) {
	m := class.MatricesOf(c.fn.Function, c.node)
	a, b, y := c.in(0), c.in(1), c.out(0)
	size := blockOf(m.M)
	blocks := size.rowBlocks(1, m.M) * size.columnBlocks(m.N)
	var pairs []int
	for i := range m.A {
		pairs = append(pairs, m.A[i], m.B[i])
	}
	table := c.table([]int{m.M, m.K, m.N, m.InA(1, 0), m.InA(0, 1), m.InB(1, 0), m.InB(0, 1)}, pairs)
	c.launch(size.kernel("matmul_block"), y.Kind, blocks*len(m.A)*Threads, append([]any{a, b, y, table,
		unitsOf(a, y.Kind), a.count, unitsOf(b, y.Kind), b.count, y.count}, c.epilogue(1)...)...)
}
