package cpu

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/tensor"
)

// AlignmentBytes is the maximum number of bytes that are allocated to align an arena of 2 MiB or more.
const AlignmentBytes = arena.AlignmentBytes

// baseBytes is an upper bound of the part of a worker's memory that does not depend on the program:
// positions and tiles that kernels stage.
const baseBytes = 1 << 20

// WorkerBytes returns an upper bound of the private memory of a worker, in bytes, while it predicts with a
// program. A worker keeps the memory of the largest action: a padded or transposed copy of a row of its
// operands, or a block of Winograd tiles.
func WorkerBytes(p *graph.Program) int64 {
	most := 0
	for _, f := range p.Functions {
		for i := range f.Nodes {
			most = max(most, actionValues(f, &f.Nodes[i]))
		}
	}
	return int64(baseBytes + 4*most)
}

// actionValues returns an upper bound of the number of values of four bytes that a worker needs for a node.
func actionValues(f *graph.Function, n *graph.Node) (values int) {
	longest := 0
	for _, list := range [][]graph.Value{n.In, n.Out} {
		for _, v := range list {
			if v == graph.None {
				continue
			}
			t := f.Values[v].Type
			for _, d := range t.Shape {
				longest = max(longest, d)
			}
			if t.Kind == graph.Rows {
				values += tensor.Count(t.Shape)
			}
		}
	}
	const panel = 64 // maximum number of channels that are packed together
	values += panel * longest
	if n.Op == graph.Conv || n.Op == graph.ConvInt8 || n.Op == graph.ConvTranspose {
		values += windowValues(f, n)
	}
	return values
}

// windowValues returns the part of actionValues of a convolution: the padded image, and transformed tiles
// with their products.
func windowValues(f *graph.Function, n *graph.Node) int {
	const mostTiles, side = 64, 4
	in, weight, out := f.Values[n.In[0]].Type.Shape, f.Values[n.In[1]].Type.Shape, f.Values[n.Out[0]].Type.Shape
	pad := [4]int64{}
	for _, a := range n.Attrs {
		if a.Key == "pad" {
			copy(pad[:], a.Val.([]int64))
		}
	}
	padded := (in[1] + int(pad[0]+pad[2]) + 2*side) * (in[2] + int(pad[1]+pad[3]) + 2*side) * in[0]
	taps := (weight[2] + side - 1) * (weight[3] + side - 1)
	if weight[1] == 1 || weight[2] == 1 || max(weight[2], weight[3]) > 5 { // never computed in tiles
		return padded
	}
	return padded + taps*max(mostTiles, out[2])*(in[0]+out[0])
}
