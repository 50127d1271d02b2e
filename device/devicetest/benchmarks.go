package devicetest

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Benchmarks returns all benchmarks: the operations in which training and inference spend
// most time, in sizes of resnet18 and mobilenetv2, a call, and exchanges.
func Benchmarks() []Benchmark {
	list := []Benchmark{{Name: "call: a run of one relu of one value", times: 1,
		setting: func() (*setting, error) {
			return timed("call", 1, func(c *chainBuilder) { c.out(c.do(graph.Relu, values{c.operand(rows(1))})) })
		}}}
	for _, o := range timedOps {
		list = append(list, Benchmark{Name: fmt.Sprintf("%v: %s, %d rows", o.op, o.name, o.rows),
			Ops: o.needs(), times: o.times, setting: o.setting})
	}
	for _, e := range timedExchanges {
		list = append(list, Benchmark{Name: "exchange: " + e.name, Ops: []graph.Op{graph.AllReduce, graph.Add},
			times: exchangesInARow, members: [][]int{{0}, {1}}, setting: e.setting})
	}
	return list
}

// timed returns the setting of a program with one function, for one replica of n rows.
func timed(name string, n int, build func(c *chainBuilder)) (*setting, error) {
	s := newSetting(name, bits)
	s.rows = []int{n}
	c := &chainBuilder{Builder: graph.NewBuilder(name, &s.program.State), setting: s}
	c.draws = tensor.NewPhilox(7, tensor.StreamInit).Draws(0, 0)
	build(c)
	f, err := c.Function()
	s.program.Functions = []*graph.Function{f}
	return s, err
}

// timedOp is an operation that is repeated within a run, so that the transfer of inputs and
// outputs hardly counts.
type timedOp struct {
	op    graph.Op
	name  string
	rows  int
	times int
	x     []int // shape of a row
	next  func(c *chainBuilder, x graph.Value) graph.Value
}

const inARow = 8

var timedOps = []timedOp{
	{graph.Conv, "3x3, 64 channels of 56x56", 8, inARow, []int{64, 56, 56}, convOf(graph.Conv, 64, 64, 3, 1)},
	{graph.Conv, "3x3, 512 channels of 7x7", 32, inARow, []int{512, 7, 7}, convOf(graph.Conv, 512, 512, 3, 1)},
	{graph.Conv, "1x1, 256 channels of 14x14", 32, inARow, []int{256, 14, 14},
		convOf(graph.Conv, 256, 256, 1, 1)},
	{graph.Conv, "3x3, 192 channels of 28x28 one by one", 16, inARow, []int{192, 28, 28},
		convOf(graph.Conv, 192, 1, 3, 192)},
	{graph.ConvGradInput, "3x3, 64 channels of 56x56", 8, inARow, []int{64, 56, 56},
		convOf(graph.ConvGradInput, 64, 64, 3, 1)},
	{graph.ConvGradWeight, "3x3, 64 channels of 56x56", 8, 1, []int{64, 56, 56}, nil},
	{graph.Dense, "1024 to 1024", 64, inARow, []int{1024}, func(c *chainBuilder, x graph.Value) graph.Value {
		return c.do(graph.Dense, values{x, c.operand(whole(1024, 1024).filledBy(plain))})
	}},
	{graph.BatchNorm, "64 channels of 56x56", 8, inARow, []int{64, 56, 56},
		func(c *chainBuilder, x graph.Value) graph.Value { return c.batchNorm(x) }},
	{graph.Moments, "64 channels of 56x56", 8, 1, []int{64, 56, 56}, nil},
	{graph.Add, "64 channels of 56x56", 8, inARow, []int{64, 56, 56}, nil},
	{graph.MaxPool, "3x3, 64 channels of 56x56", 8, inARow, []int{64, 56, 56},
		func(c *chainBuilder, x graph.Value) graph.Value {
			return c.do(graph.MaxPool, values{x}, "kernel", []int{3, 3}, "pad", []int{1, 1, 1, 1})
		}},
}

// convOf returns a convolution that keeps the shape, or its gradient.
func convOf(o graph.Op, channels, channelsPerGroup, side, groups int) func(c *chainBuilder,
	x graph.Value) graph.Value {
	pad := side / 2
	return func(c *chainBuilder, x graph.Value) graph.Value {
		attributes := []any{"pad", []int{pad, pad, pad, pad}, "groups", groups}
		if o == graph.ConvGradInput {
			attributes = append(attributes, "size", c.Type(x).Shape[1:])
		}
		return c.do(o, values{x, c.operand(whole(channels, channelsPerGroup, side, side).filledBy(plain))},
			attributes...)
	}
}

// setting makes a chain of repetitions of the operation, with a small output.
func (o timedOp) setting() (*setting, error) {
	return timed("operation", o.rows, func(c *chainBuilder) {
		x := c.operand(rows(o.x...).filledBy(plain))
		switch o.op {
		case graph.ConvGradWeight:
			c.out(c.do(o.op, values{x, c.operand(rows(o.x...).filledBy(plain))}, "kernel", []int{3, 3}, "pad",
				[]int{1, 1, 1, 1}))
			return
		case graph.Moments:
			c.out(c.do(o.op, values{x}))
			return
		}
		y := x
		for range o.times {
			if o.op == graph.Add {
				y = c.do(o.op, values{y, x})
			} else {
				y = o.next(c, y)
			}
		}
		c.out(c.do(graph.ChannelSum, values{y}))
	})
}

// needs returns the operations of the program.
func (o timedOp) needs() []graph.Op {
	if o.next == nil && o.op != graph.Add {
		return []graph.Op{o.op}
	}
	return []graph.Op{o.op, graph.ChannelSum}
}

// exchangesInARow is the number of exchanges in one run: each needs the result of
// the previous one.
const exchangesInARow = 16

// timedExchange is a value that two devices reduce.
type timedExchange struct {
	name  string
	dtype tensor.DType
	shape []int
}

var timedExchanges = []timedExchange{
	{"moments of 64 channels, two devices", tensor.F64, []int{129}},
	{"1 MiB of gradients, two devices", tensor.F32, []int{1 << 18}},
}

func (e timedExchange) setting() (*setting, error) {
	s := newSetting("exchange", bits)
	s.rows = []int{1, 1}
	c := &chainBuilder{Builder: graph.NewBuilder(s.function, &s.program.State), setting: s}
	x := c.operand(operand{graph.Type{Kind: graph.Replica, DType: e.dtype, Shape: e.shape}, spread})
	y := x
	var sum graph.Value
	for i := range exchangesInARow {
		if i > 0 {
			y = c.do(graph.Add, values{x, sum})
		}
		sum = c.do(graph.AllReduce, values{y}, "of", "sum")
	}
	c.out(sum)
	f, err := c.Function()
	s.program.Functions = []*graph.Function{f}
	return s, err
}

// plain fills t with small numbers, without random draws.
func plain(_ *tensor.Draws, t tensor.Tensor) {
	set(t, func(i int) float64 { return float64(i%13-6) / 64 })
}
