package operations

import (
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// blocks divides the rows of each replica into blocks. Their size depends on the shape
// alone: single rows, or rows that together have no more positions than are summed in
// float32. The blocks of a replica are added along the canonical tree.
type blocks struct {
	rows int // number of rows of a block
}

// blocksOf returns the blocks of v.
func blocksOf(v *run.Value) blocks { return blocks{max(1, kernel.BlockPositions/max(v.Positions, 1))} }

// OneBlock reports whether each row of v is a separate block, and is stored with its channels last.
func OneBlock(v graph.Variable) bool {
	x := run.NewValue(v)
	return x.Last && blocksOf(x).rows == 1
}

// eachBlock calls do for every block, with its number among all blocks, and its rows.
func (b blocks) eachBlock(f *run.Frame, do func(w *run.Worker, block, from, to int)) {
	f.Each(b.first(f, len(f.Rows)), func(w *run.Worker, block int) {
		r := 0
		for b.first(f, r+1) <= block {
			r++
		}
		from := f.Starts[r] + (block-b.first(f, r))*b.rows
		do(w, block, from, min(from+b.rows, f.Starts[r+1]))
	})
}

// first returns the number of the first block of replica r.
func (b blocks) first(f *run.Frame, r int) int {
	n := 0
	for _, rows := range f.Rows[:r] {
		n += (rows + b.rows - 1) / b.rows
	}
	return n
}

// addAlongTree calls add for every node of the canonical tree over n leaves, lower nodes first. dst and src
// are the first leaves of the node's two halves. add must add the value at src to the value at dst.
func addAlongTree(n collective.Node, add func(dst, src int)) {
	if n.Leaf() {
		return
	}
	left, right := n.Children()
	addAlongTree(left, add)
	addAlongTree(right, add)
	add(left.From, right.From)
}

// spanPositions is the number of positions of a row that are summed at a time. The sums of spans of a
// longer row are added along the canonical tree.
const spanPositions = 4096

// eachSpan computes the partial sums of a row with the given number of values. do computes
// the sums of values [from, to), and add adds two sums.
func eachSpan(w *run.Worker, channels, values int, partial []float64,
	do func(partial []float64, from, to int), add func(total, partial []float64)) {
	span := spanPositions * channels
	if values <= span {
		do(partial, 0, values)
		return
	}
	spans, n := (values+span-1)/span, len(partial)
	all := w.Partials(spans * n)
	at := func(i int) []float64 { return all[i*n : (i+1)*n] }
	for i := range spans {
		do(at(i), i*span, min((i+1)*span, values))
	}
	addAlongTree(collective.Root(spans), func(to, from int) { add(at(to), at(from)) })
	copy(partial, all)
}
