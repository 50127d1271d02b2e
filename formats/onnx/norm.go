package onnx

import "github.com/bnctl/bnctl/graph"

// varianceKey is the key of the model's properties that says which variance
// running statistics keep, if it is not the unbiased one of PyTorch.
const varianceKey = "bnctl.running_variance"

// batchNorm reads all versions: 6 has is_test, 7 to 8 spatial, 14 and on
// training_mode. Only prediction with a mean and a variance per channel is
// supported. momentum is the weight of the old statistics.
func batchNorm(c *call) graph.Value {
	s := c.shape(0)
	if c.opset < 7 && c.int("is_test", 0) == 0 && len(c.n.Output) > 1 || c.opset >= 14 &&
		c.int("training_mode", 0) != 0 {
		c.fail("is in training mode; export the model in evaluation mode")
	}
	if c.opset < 9 && c.int("spatial", 1) != 1 {
		c.fail("with spatial=0, statistics per element, is not supported")
	}
	if len(s) == 0 {
		c.fail("of a tensor without channels")
	}
	if c.err != nil {
		return graph.None
	}
	variance := "unbiased"
	if c.biased {
		variance = "biased"
	}
	in := []graph.Value{c.flow(0), c.state(1, graph.Gamma, s[0]), c.state(2, graph.Beta, s[0]),
		c.state(3, graph.Mean, s[0]), c.state(4, graph.Variance, s[0])}
	return c.node(graph.BatchNorm, "", in, "eps", short(c.float("epsilon", 1e-5)),
		"decay", short(c.float("momentum", 0.9)), "variance", variance)
}
