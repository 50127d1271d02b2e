package convolution

import (
	"math/bits"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// A chunk is the number of rows that have about 4096 positions, a function of the shape. The
// sums of chunks are added in the order of the canonical tree (package collective):
//
// 	chunks   0   1   2   3   4        workspace, in blocks of n sums:
// 	          \ /     \ /    |          block 0: the node being computed
// 	           +       +     |          block 1: its right child
// 	            \     /     /           block 2: the right child of block 1
// 	               +      /            so log2(chunks) blocks are enough
// 	                \    /
// 	                  +

// chunkPositions is the minimum number of positions of a result that one chain of products sums. The
// positions after them begin the next chain.
const chunkPositions = 4096

// chunks divides the rows of a replica into chunks. Their size depends on the shape alone.
// A weight gradient is computed separately for each chunk; the gradient of the replica is
// the sum of the chunks along the canonical tree, in float32.
type chunks struct {
	rows int // rows of a chunk; the last one may have fewer
}

// chunksOf returns the chunks of a gradient with the given number of positions per row.
func chunksOf(positions int) chunks {
	return chunks{max(1, (chunkPositions+positions-1)/max(positions, 1))}
}

// count returns the number of chunks into which the given number of rows is divided.
func (c chunks) count(rows int) int { return (rows + c.rows - 1) / c.rows }

// blocks returns the number of blocks of sums that the tree over the given number of
// rows needs.
func (c chunks) blocks(rows int) int { return max(1, bits.Len(uint(c.count(rows)))) }

// sum computes n sums over rows [from, to) and returns them. They are stored in workspace,
// which has n values for each of the blocks. chunk adds the products of some rows to sums.
func (c chunks) sum(set *kernel.Set, workspace []float32, n, from, to int,
	chunk func(sums []float32, from, to int)) []float32 {
	if from == to {
		clear(workspace[:n])
		return workspace[:n]
	}
	c.node(set, collective.Root(c.count(to-from)), workspace, n, func(sums []float32, i int) {
		clear(sums)
		first := from + i*c.rows
		chunk(sums, first, min(first+c.rows, to))
	})
	return workspace[:n]
}

// node computes the sum at a node of the tree over the chunks. It stores the sum in the first n values of
// workspace.
func (c chunks) node(set *kernel.Set, node collective.Node, workspace []float32, n int,
	leaf func(sums []float32, i int)) {
	sums := workspace[:n]
	if node.Leaf() {
		leaf(sums, node.From)
		return
	}
	left, right := node.Children()
	c.node(set, left, workspace, n, leaf)
	c.node(set, right, workspace[n:], n, leaf)
	set.Add(sums, sums, workspace[n:2*n])
}
