package losses

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// The training function for YOLOX has these inputs, f32 rows for M objects and A cells.
// cells.Candidates computes them from labels.
const (
	InputObjects = "objects"      // [M, 6]
	InputClasses = "object.class" // [M, C]
	InputNear    = "object.near"  // [M, rows and columns of all maps]
	InputCells   = "cells"        // [5, A]
)

// The numbers of SimOTA, as in package cells.
const (
	mostOverlaps = 10
	overlapCost  = 3.0
	farCost      = 1e6
	noCost       = 1e30
	leastLog     = -100.0 // minimum of the logarithm of a probability
)

// simOTA adds the assignment of objects to cells by the prediction (Ge et al. 2021), which package
// cells defines. It consists of operations that every device supports. A value of shape [M, A] has
// a line for each object:
//
//	near, overlaps, costs [M, A] --rounds--> chosen [M, A] --conflicts--> match [M, A]
//
// It has no gradient, because its operands are separate slices of the output. The loss does not
// read these slices.
type simOTA struct {
	t                                       *tape
	outputs                                 graph.Value // [5+C, A]
	objects, cells                          graph.Value
	maps                                    [][2]int // rows and columns of each map
	count                                   [3]int   // M, C, A
	near, candidate, overlaps, costs, match graph.Value
}

func (s *simOTA) op(op graph.Op, name string, operands []graph.Value, pairs ...any) graph.Value {
	return s.t.op(op, "assign."+name, operands, pairs...)
}

func (s *simOTA) two(op graph.Op, name string, a, b graph.Value) graph.Value {
	return s.op(op, name, []graph.Value{a, b})
}

func (s *simOTA) affine(name string, x graph.Value, factor, add float64) graph.Value {
	return s.op(graph.Affine, name, []graph.Value{x}, "by", factor, "add", add)
}

// reduce reduces an axis to 1.
func (s *simOTA) reduce(op graph.Op, name string, x graph.Value, axis int) graph.Value {
	return s.op(op, name, []graph.Value{x}, "axes", []int{axis}, "keep", true)
}

func (s *simOTA) compare(name string, a, b graph.Value, relation string) graph.Value {
	return s.op(graph.Compare, name, []graph.Value{a, b}, "of", relation)
}

// where returns a where the condition holds and b elsewhere, or 0 if b is graph.None.
func (s *simOTA) where(name string, condition, a, b graph.Value) graph.Value {
	return s.op(graph.Where, name, []graph.Value{condition, a, b})
}

// columns returns the columns [from, to) of the objects, [M, to-from].
func (s *simOTA) columns(name string, from, to int) graph.Value {
	return s.op(graph.Slice, name, []graph.Value{s.objects}, "begin", []int{0, from},
		"end", []int{s.count[0], to})
}

// newSimOTA declares the inputs.
func (t *tape) newSimOTA(outputs graph.Value, shape []int) (*simOTA, error) {
	m, c, a := t.loss.Objects, shape[0]-rowsOfBox-1, shape[1]
	s := &simOTA{t: t, outputs: outputs, maps: t.loss.Maps, count: [3]int{m, c, a}}
	cells, sides := 0, 0
	for _, side := range s.maps {
		cells, sides = cells+side[0]*side[1], sides+side[0]+side[1]
	}
	if m < 1 || cells != a {
		return nil, fmt.Errorf("loss %s: %d objects and maps %v for an output of %d cells", YOLOX, m, s.maps, a)
	}
	s.objects, s.cells = t.input(InputObjects, []int{m, 6}), t.input(InputCells, []int{5, a})
	s.placeNear(t.input(InputNear, []int{m, sides}))
	return s, nil
}

// placeNear computes a 1 for each cell near an object: the product of the flags of its row and its
// column.
func (s *simOTA) placeNear(flags graph.Value) {
	var all []graph.Value
	at, m := 0, s.count[0]
	for k, side := range s.maps {
		flagsOf := func(axis string, count int, shape ...int) graph.Value {
			v := s.op(graph.Slice, fmt.Sprintf("near.%d.%s", k, axis), []graph.Value{flags}, "begin", []int{0, at},
				"end", []int{m, at + count})
			at += count
			return s.op(graph.Reshape, fmt.Sprintf("near.%d.%s.flags", k, axis), []graph.Value{v}, "shape", shape)
		}
		rows := flagsOf("rows", side[0], m, side[0], 1)
		columns := flagsOf("columns", side[1], m, 1, side[1])
		both := s.two(graph.Mul, fmt.Sprintf("near.%d.both", k), rows, columns)
		all = append(all, s.op(graph.Reshape, fmt.Sprintf("near.%d", k), []graph.Value{both}, "shape",
			[]int{m, side[0] * side[1]}))
	}
	s.near = s.op(graph.Concat, "near", all, "axis", 1)
	s.candidate = s.reduce(graph.ReduceMax, "candidate", s.near, 0)
}

// assign computes the match: 1 for the cells of each object.
func (s *simOTA) assign() {
	s.overlap()
	s.cost()
	chosen := s.choose(s.wanted())
	s.conflicts(chosen)
}

// overlap computes the IoU of each prediction with each object. It is 0 for cells that
// are not candidates.
func (s *simOTA) overlap() {
	row := func(name string, from, to int) graph.Value { return s.t.rows("assign."+name, s.outputs, from, to) }
	cell := func(name string, from, to int) graph.Value { return s.t.rows("assign."+name, s.cells, from, to) }
	side := cell("side", 2, 3)
	centre := s.two(graph.Mul, "centre", s.two(graph.Add, "at", row("offset", 0, 2), cell("origin", 0, 2)), side)
	size := s.two(graph.Mul, "size", s.op(graph.Exp, "cells", []graph.Value{row("logs", 2, 4)}), side)
	half := s.affine("half", size, 0.5, 0)
	low, high := s.two(graph.Sub, "low", centre, half), s.two(graph.Add, "high", centre, half)
	extent := s.two(graph.Sub, "extent", high, low)
	line := func(name string, v graph.Value, axis int) graph.Value {
		return s.t.rows("assign."+name, v, axis, axis+1)
	}
	area := s.two(graph.Mul, "area", line("w", extent, 0), line("h", extent, 1))
	var shared, sides [2]graph.Value
	for axis, name := range []string{"x", "y"} {
		first, last := s.columns(name+"1", axis, axis+1), s.columns(name+"2", axis+2, axis+3)
		sides[axis] = s.two(graph.Sub, name+".side", last, first)
		end := s.two(graph.Min, name+".end", line(name+".high", high, axis), last)
		begin := s.two(graph.Max, name+".begin", line(name+".low", low, axis), first)
		shared[axis] = s.op(graph.Relu, name+".shared",
			[]graph.Value{s.two(graph.Sub, name+".overlap", end, begin)})
	}
	common := s.two(graph.Mul, "common", shared[0], shared[1])
	both := s.two(graph.Add, "areas", s.two(graph.Mul, "object.area", sides[0], sides[1]), area)
	iou := s.two(graph.Div, "iou", common, s.two(graph.Sub, "union", both, common))
	s.overlaps = s.two(graph.Mul, "overlaps", iou, s.candidate)
}

// cost computes the costs. Cells that are not candidates have noCost.
func (s *simOTA) cost() {
	probability := func(name string, from, to int) graph.Value {
		return s.op(graph.Sigmoid, name, []graph.Value{s.t.rows("assign."+name+".logits", s.outputs, from, to)})
	}
	object := probability("object", 4, 5)
	p := s.op(graph.Sqrt, "p", []graph.Value{
		s.two(graph.Mul, "product", probability("class", 5, 5+s.count[1]), object)})
	log := func(name string, v graph.Value) graph.Value {
		return s.op(graph.Clip, name, []graph.Value{s.op(graph.Log, name+".log", []graph.Value{v})},
			"min", leastLog, "max", 0.0)
	}
	met, missed := log("met", p), log("missed", s.affine("rest", p, -1, 1))
	gains := s.two(graph.MatMul, "gains", s.t.input(InputClasses, []int{s.count[0], s.count[1]}),
		s.two(graph.Sub, "gain", met, missed))
	classes := s.two(graph.Add, "classes", s.reduce(graph.ReduceSum, "base", missed, 0), gains)
	apart := s.affine("apart", s.op(graph.Log, "log", []graph.Value{s.affine("some", s.overlaps, 1, 1e-8)}),
		overlapCost, 0)
	near := s.affine("gained", s.two(graph.Add, "both", apart, classes), -1, 0)
	cost := s.two(graph.Add, "cost", near, s.affine("far", s.near, -farCost, farCost))
	valid := s.columns("valid", 4, 5)
	real := s.two(graph.Mul, "real", valid, s.candidate)
	s.costs = s.where("costs", real, cost, s.affine("none", valid, 0, noCost))
}

// wanted returns the number of cells of each object, [M, 1]: the sum of the largest overlaps of the
// object.
func (s *simOTA) wanted() graph.Value {
	left, sum := s.affine("overlaps.opposite", s.overlaps, -1, 0), graph.None
	if b := s.leastBlocks("overlaps", left, 0); b != nil {
		left = b.values
	}
	count := float64(s.t.Builder.Type(left).Shape[1])
	remaining := s.affine("remaining", s.columns("wanted.valid", 4, 5), 0, mostOverlaps)
	for range mostOverlaps {
		largest := s.reduce(graph.ReduceMin, "largest", left, 1) // the minimum of the negated overlaps
		smaller := s.compare("smaller", left, largest, "not_equal")
		equal := s.affine("equal", s.reduce(graph.ReduceSum, "smaller.count", smaller, 1), -1, count)
		taken := s.two(graph.Min, "taken", equal, remaining)
		remaining = s.two(graph.Sub, "remaining", remaining, taken)
		add := s.two(graph.Mul, "share", taken, largest)
		if sum != graph.None {
			add = s.two(graph.Add, "sum", sum, add)
		}
		sum, left = add, s.two(graph.Mul, "left", left, smaller)
	}
	whole := s.op(graph.Round, "whole", []graph.Value{s.affine("total", sum, -1, 0)}, "mode", "floor")
	return s.two(graph.Mul, "wanted", s.op(graph.Clip, "most", []graph.Value{whole}, "min", 1.0,
		"max", float64(mostOverlaps)), s.columns("counted", 4, 5))
}

// choose returns 1 for the cells of an object with the least costs. Of equal costs, the first
// cells are chosen.
func (s *simOTA) choose(count graph.Value) graph.Value {
	order, costs := s.t.rows("assign.order", s.cells, 3, 4), s.costs // order is A minus the index
	b := s.leastBlocks("costs", costs, noCost)
	if b != nil {
		order, costs = b.order, b.values
	}
	left, none := costs, s.affine("taken", count, 0, noCost)
	for round := range mostOverlaps {
		least := s.reduce(graph.ReduceMin, "least", left, 1)
		open := s.two(graph.Mul, "open", s.compare("more", s.affine("after", count, 1, -float64(round)),
			graph.None, "greater"), s.compare("exists", least, none, "less"))
		best := s.two(graph.Mul, "best", s.first(left, least, order), open)
		left = s.where("left", s.compare("picked", order, best, "equal"), none, left)
	}
	chosen := s.compare("chosen", left, costs, "not_equal")
	if b != nil {
		return s.spread(b, chosen)
	}
	return chosen
}

// first returns, for each line, the order of the first element that equals value.
func (s *simOTA) first(values, value, order graph.Value) graph.Value {
	is := s.where("first", s.compare("is", values, value, "equal"), order, graph.None)
	return s.reduce(graph.ReduceMax, "first.order", is, 1)
}

// blockCells is the number of cells of a block.
const blockCells = 16

// blocks are the blocks of [M, A] with the mostOverlaps smallest minima in each line. Of blocks with
// equal minima, the first are taken. They contain the mostOverlaps smallest elements of the line,
// ordered by value and then by index, because an element of another block comes after the minima of
// all these blocks. So the rounds need not read all cells.
type blocks struct {
	values, order graph.Value // [M, mostOverlaps*blockCells]; order is A minus the index
	picks         graph.Value // [M, mostOverlaps, B]: 1 for the chosen block
	count         int         // B
}

// leastBlocks returns the blocks of values. bound is at least as large as every value. It returns nil if
// there are few cells.
func (s *simOTA) leastBlocks(name string, values graph.Value, bound float64) *blocks {
	m, a := s.count[0], s.count[2]
	b := &blocks{count: (a + blockCells - 1) / blockCells}
	if b.count < 2*mostOverlaps {
		return nil
	}
	lines := func(name string, v graph.Value, bound float64, shape ...int) graph.Value {
		if more := b.count*blockCells - a; more > 0 {
			v = s.op(graph.Pad, name+".padded", []graph.Value{v}, "before", []int{0, 0}, "after", []int{0, more},
				"value", bound)
		}
		return s.op(graph.Reshape, name+".lines", []graph.Value{v}, "shape", shape)
	}
	cells := lines(name, values, bound, m, b.count, blockCells)
	order := lines(name+".order", s.t.rows("assign."+name+".cells", s.cells, 3, 4), 0, b.count, blockCells)
	left := s.op(graph.ReduceMin, name+".minima", []graph.Value{cells}, "axes", []int{2})
	ofBlock := s.op(graph.Slice, name+".order.blocks", []graph.Value{s.cells}, "begin", []int{3, 0},
		"end", []int{4, a}, "step", []int{1, blockCells})
	none := s.affine(name+".beyond", s.columns(name+".valid", 4, 5), 0, 2*noCost)
	var picks []graph.Value
	for range mostOverlaps {
		best := s.first(left, s.reduce(graph.ReduceMin, "block.least", left, 1), ofBlock)
		pick := s.compare("block", ofBlock, best, "equal")
		picks = append(picks, s.op(graph.Reshape, "block.line", []graph.Value{pick}, "shape", []int{m, 1, b.count}))
		left = s.where("blocks.left", pick, none, left)
	}
	b.picks = s.op(graph.Concat, name+".blocks", picks, "axis", 1)
	gather := func(what string, of graph.Value) graph.Value {
		return s.op(graph.Reshape, name+what, []graph.Value{s.two(graph.MatMul, name+what+".lines", b.picks, of)},
			"shape", []int{m, mostOverlaps * blockCells})
	}
	b.values, b.order = gather(".least", cells), gather(".indices", order)
	return b
}

// spread returns flags of the cells of blocks at the positions of these cells, [M, A].
// Other elements are 0.
func (s *simOTA) spread(b *blocks, flags graph.Value) graph.Value {
	m, a := s.count[0], s.count[2]
	lines := s.op(graph.Reshape, "chosen.lines", []graph.Value{flags},
		"shape", []int{m, mostOverlaps, blockCells})
	all := s.op(graph.MatMul, "chosen.blocks", []graph.Value{b.picks, lines}, "transpose_a", true)
	all = s.op(graph.Reshape, "chosen.padded", []graph.Value{all}, "shape", []int{m, b.count * blockCells})
	return s.op(graph.Slice, "chosen.cells", []graph.Value{all}, "begin", []int{0, 0}, "end", []int{m, a})
}

// conflicts gives a cell that several objects have chosen to the object with the least cost, and of
// equal costs to the first object.
func (s *simOTA) conflicts(chosen graph.Value) {
	order := s.columns("object.order", 5, 6) // order is M minus the index
	several := s.compare("several", s.affine("others", s.reduce(graph.ReduceSum, "count", chosen, 0), 1, -1),
		graph.None, "greater")
	is := s.compare("cheapest", s.costs, s.reduce(graph.ReduceMin, "cell.least", s.costs, 0), "equal")
	first := s.reduce(graph.ReduceMax, "cell.best", s.where("cell.first", is, order, graph.None), 0)
	s.match = s.where("match", several, s.compare("winner", order, first, "equal"), chosen)
}
