package keras

import "github.com/bnctl/bnctl/graph"

// pool returns the function that makes the node of a pooling layer. Averages leave out the
// padding.
func pool(op graph.Op) func(*call) flow {
	return func(c *call) flow {
		x := c.channelsFirst(c.operand())
		axes := len(x.shape) - 1
		if !c.has("pool_size") {
			c.m["pool_size"] = []byte("2")
		}
		if !c.has("strides") {
			c.m["strides"] = c.m["pool_size"]
		}
		w := c.windowOf(axes, "pool_size").two()
		_, size := c.spatialSize(x)
		v := c.node(op, "", []graph.Value{c.toImage(x)}, "kernel", w.kernel, "stride", w.stride, "pad",
			c.padding(w, size))
		return c.fromImage(v, axes)
	}
}

func globalAverage(c *call) flow {
	x := c.channelsFirst(c.operand())
	v := c.node(graph.GlobalAvgPool, "", []graph.Value{c.toImage(x)})
	return c.global(x, v)
}

func globalMax(c *call) flow {
	x := c.channelsFirst(c.operand())
	_, size := c.spatialSize(x)
	v := c.node(graph.MaxPool, "", []graph.Value{c.toImage(x)}, "kernel", size, "stride", size)
	return c.global(x, v)
}

// global returns the result of a global pooling. It drops the spatial axes, unless the
// layer keeps them.
func (c *call) global(x flow, v graph.Value) flow {
	channels, _ := c.spatialSize(x)
	shape := []int{channels}
	if c.bool("keepdims", false) {
		for range len(x.shape) - 1 {
			shape = append(shape, 1)
		}
	}
	if len(shape) < 3 {
		v = c.node(graph.Reshape, ".flat", []graph.Value{v}, "shape", shape)
	}
	return c.shaped(v)
}
