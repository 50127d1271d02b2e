package models

import (
	"github.com/bnctl/bnctl/graph"
)

// windowBias is added to the products of a window's positions: a number for their distance,
// and -100 for positions that a rolled map brought together from different sides.
func (n *net) windowBias(name string, table graph.Value, rows, columns, rowShift,
	columnShift int) graph.Value {
	const w, area = swinWindow, swinWindow * swinWindow
	heads := n.Type(table).Shape[1]
	index := make([]int, 0, area*area)
	for i := range area {
		for j := range area {
			index = append(index, (i/w-j/w+w-1)*(2*w-1)+i%w-j%w+w-1)
		}
	}
	b := n.Op(graph.Take, name+".distances", []graph.Value{table}, "axis", 0, "index", index)
	b = n.transpose(name+".bias", n.reshape(name+".distances.of", b, area, area, heads), 2, 0, 1)
	if rowShift == 0 && columnShift == 0 {
		return b
	}
	zero := n.Op(graph.Slice, name+".first", []graph.Value{table}, "begin", []int{0, 0}, "end", []int{1, 1})
	zero = n.Op(graph.Compare, name+".is", []graph.Value{zero}, "of", "equal")
	zero = n.Op(graph.Affine, name+".zero", []graph.Value{zero}, "by", 0.0)
	sides := n.add(name+".sides", n.sides(name+".rows", zero, 0, rows, rowShift, 3),
		n.sides(name+".columns", zero, 1, columns, columnShift, 1))
	sides = n.windows(name+".sides", n.reshape(name+".sides.map", sides, rows, columns, 1))
	other := n.reshape(name+".sides.turned", sides, rows*columns/area, 1, area)
	differ := n.Op(graph.Compare, name+".differ", []graph.Value{sides, other}, "of", "not_equal")
	mask := n.Op(graph.Affine, name+".mask", []graph.Value{differ}, "by", -100.0)
	return n.add(name+".both", b, n.reshape(name+".mask.of", mask, rows*columns/area, 1, area, area))
}

// sides returns a number for each position along an axis of a rolled map. It shows the part
// of the map that the position comes from: 0, step or twice step.
func (n *net) sides(name string, zero graph.Value, axis, length, shift, step int) graph.Value {
	behind := func(suffix string, x graph.Value, count, value int) graph.Value {
		after := []int{0, 0}
		after[axis] = count
		return n.Op(graph.Pad, name+suffix, []graph.Value{x}, "before", []int{0, 0}, "after", after,
			"value", float64(value))
	}
	if shift == 0 {
		return behind(".same", zero, length-1, 0)
	}
	x := behind(".within", zero, length-swinWindow-1, 0)
	x = behind(".last", x, swinWindow-shift, step)
	return behind(".moved", x, shift, 2*step)
}
