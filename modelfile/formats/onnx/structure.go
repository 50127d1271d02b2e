package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

func transpose(c *call) graph.Value {
	rank := len(c.shape(0)) + 1
	if c.attribute("perm") == nil {
		c.fail("without perm moves the batch axis")
	}
	perm := c.ints("perm", rank, 0)
	if c.err == nil && perm[0] != 0 {
		c.fail("moves the batch axis: perm is %v", perm)
	}
	for i := range perm {
		perm[i]--
	}
	return c.node(graph.Transpose, "", []graph.Value{c.flow(0)}, "perm", perm[1:])
}

func concat(c *call) graph.Value {
	axis := c.axis(int64(c.int("axis", 1)), len(c.shape(0)))
	var in []graph.Value
	for i := range c.in {
		in = append(in, c.flow(i))
	}
	return c.node(graph.Concat, "", in, "axis", axis)
}

func slice(c *call) graph.Value {
	s := c.shape(0)
	spans := c.spans(s, func(a int64) int { return c.axis(a, len(s)) })
	return c.cut("", spans)
}

// cut adds a slice of the operand.
func (c *call) cut(suffix string, spans []span) graph.Value {
	begin, end, step := make([]int, len(spans)), make([]int, len(spans)), make([]int, len(spans))
	for a, s := range spans {
		begin[a], end[a], step[a] = s.begin, s.end, s.step
	}
	if len(step) == 0 || slices.Max(step) == 1 {
		step = nil
	}
	return c.node(graph.Slice, suffix, []graph.Value{c.flow(0)}, "begin", begin, "end", end, "step", step)
}

// split cuts an axis into parts: of given lengths, or as many equal ones as there are results.
func split(c *call) []value {
	s := c.shape(0)
	axis := c.axis(int64(c.int("axis", 0)), len(s))
	parts, given := c.list("split", 1)
	if c.err != nil {
		return nil
	}
	if n := len(c.n.Output); !given && n > 0 {
		each := int64(ceil(s[axis], n))
		for i := range int64(n) {
			parts = append(parts, min(each, int64(s[axis])-i*each))
		}
	}
	if wanted := c.int("num_outputs", len(c.n.Output)); wanted != len(c.n.Output) || len(parts) != wanted {
		c.fail("has %d results, and num_outputs %d and parts %v", len(c.n.Output), wanted, parts)
		return nil
	}
	var out []value
	at := int64(0)
	for _, n := range parts {
		spans := make([]span, len(s))
		for a := range s {
			spans[a] = span{end: s[a], step: 1}
		}
		if n < 1 || n > int64(s[axis])-at {
			c.fail("into parts of %v of an axis of %d", parts, s[axis])
			return out
		}
		spans[axis].begin, spans[axis].end = int(at), int(at+n)
		at += n
		out = append(out, rows(c.cut("", spans)))
	}
	if at != int64(s[axis]) {
		c.fail("into parts of %v of an axis of %d", parts, s[axis])
	}
	return out
}
