package onnx

import "github.com/bnctl/bnctl/graph"

func init() {
	register(operators{
		"DepthToSpace": {attributes: accept(1, "blocksize mode"), make: oneResult(depthToSpace), integers: move,
			bytes: anyBytes, traits: needsBatch},
		"SpaceToDepth": {attributes: accept(1, "blocksize"), make: oneResult(spaceToDepth), integers: move,
			bytes: anyBytes, traits: needsBatch},
	})
}

// depthToSpace moves channels into blocks of b x b elements. The number of a channel consists of the
// index in the block and the index of the result's channel. In mode DCR the index in the block comes
// first, in mode CRD last.
func depthToSpace(c *call) graph.Value {
	s, b := c.SpatialShape(0), c.Int("blocksize", 1)
	if len(s) != 3 || b < 1 || b > 1<<10 || s[0]%(b*b) != 0 {
		c.Fail("of a tensor of shape %v into blocks of %d", s, b)
		return graph.None
	}
	split, perm := []int{b, b, s[0] / (b * b), s[1], s[2]}, []int{2, 3, 0, 4, 1}
	if mode := c.Text("mode", "DCR"); mode == "CRD" {
		split, perm = []int{s[0] / (b * b), b, b, s[1], s[2]}, []int{0, 3, 1, 4, 2}
	} else if mode != "DCR" {
		c.Fail("mode is %.40q", mode)
	}
	v := c.node(graph.Reshape, ".blocks", []graph.Value{c.Dynamic(0)}, "shape", split)
	v = c.node(graph.Transpose, ".spread", []graph.Value{v}, "perm", perm)
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", []int{s[0] / (b * b), s[1] * b, s[2] * b})
}

func spaceToDepth(c *call) graph.Value {
	s, b := c.SpatialShape(0), c.Int("blocksize", 1)
	if len(s) != 3 || b < 1 || b > 1<<10 || s[1]%b != 0 || s[2]%b != 0 {
		c.Fail("of a tensor of shape %v in blocks of %d", s, b)
		return graph.None
	}
	v := c.node(graph.Reshape, ".blocks", []graph.Value{c.Dynamic(0)}, "shape",
		[]int{s[0], s[1] / b, b, s[2] / b, b})
	v = c.node(graph.Transpose, ".gathered", []graph.Value{v}, "perm", []int{2, 4, 0, 1, 3})
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", []int{s[0] * b * b, s[1] / b, s[2] / b})
}
