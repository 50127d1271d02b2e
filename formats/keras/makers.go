package keras

import "github.com/bnctl/bnctl/graph"

// makers is the closed list of layers that have a counterpart in the graph.
var makers map[string]func(*call) flow

func init() { // the makers refer to the table's users
	makers = map[string]func(*call) flow{
		"Conv1D": conv1D, "Conv2D": conv2D, "Conv2DTranspose": convTranspose,
		"DepthwiseConv2D": depthwise, "SeparableConv2D": separable, "Dense": dense,

		"BatchNormalization": batchNorm,

		"Activation": (*call).activation, "Softmax": softmax,
		"ReLU": relu, "LeakyReLU": leakyRelu, "ELU": elu, "PReLU": prelu,

		"MaxPooling1D": pool(graph.MaxPool), "MaxPooling2D": pool(graph.MaxPool),
		"AveragePooling1D": pool(graph.AvgPool), "AveragePooling2D": pool(graph.AvgPool),
		"GlobalMaxPooling1D": globalMax, "GlobalMaxPooling2D": globalMax,
		"GlobalAveragePooling1D": globalAverage, "GlobalAveragePooling2D": globalAverage,

		"Add": merge(graph.Add), "Subtract": merge(graph.Sub), "Multiply": merge(graph.Mul),
		"Average": average, "Concatenate": concatenate,

		"ZeroPadding1D": pad, "ZeroPadding2D": pad, "Cropping2D": crop,
		"UpSampling1D": upsample, "UpSampling2D": upsample,
		"Reshape": reshape, "Flatten": flatten, "Permute": permute,

		"Dropout": dropout, "Rescaling": rescale,
		"SpatialDropout1D": leftOut, "SpatialDropout2D": leftOut, "AlphaDropout": leftOut,
		"GaussianDropout": leftOut, "GaussianNoise": leftOut, "ActivityRegularization": leftOut,
	}
}

// dropout marks the place where training drops elements.
func dropout(c *call) flow {
	f := c.one()
	p := c.float("rate", 0.5)
	if p == 0 {
		return f
	}
	if c.has("noise_shape") {
		c.note(c.name, "dropout with a noise shape is left out: it does nothing in prediction")
		return f
	}
	return f.same(c.node(graph.Dropout, "", []graph.Value{f.v}, "p", p))
}

// leftOut passes through a layer that only training heeds and that has no
// counterpart.
func leftOut(c *call) flow {
	c.note(c.name, "layer "+c.l.asked+" is left out: it does nothing in prediction, "+
		"and training here goes on without it")
	return c.one()
}

func rescale(c *call) flow {
	f := c.one()
	by, add := c.float("scale", 1), c.float("offset", 0)
	return f.same(c.node(graph.Affine, "", []graph.Value{f.v}, "by", by, "add", add))
}
