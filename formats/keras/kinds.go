package keras

import "github.com/bnctl/bnctl/graph"

// layerKind is everything known about a class of layers: the function that makes its nodes,
// and the meaning of each key of its configuration. An unlisted key is rejected, because a
// later version of Keras may use it to compute something else. The lists hold names
// separated by spaces; keys of Keras 1 have been renamed to their present names before.
type layerKind struct {
	make     func(*call) flow
	joins    bool   // the layer accepts any number of operands; other layers accept one
	reads    string // read and used in the graph
	required usual  // read, and rejected with any but the usual value
	ignores  string // does not affect the layer's results in prediction
}

// usual lists keys with a single supported value: the JSON of the value, and what other
// values would request.
type usual map[string]struct{ value, asks string }

// Keys that many kinds share.
const (
	ofWeights = "kernel_initializer kernel_regularizer kernel_constraint " + ofBias
	ofBias    = "bias_initializer bias_regularizer bias_constraint"
	// initialisation, regularisation and constraints of weights in Keras 1
	ofOldWeights = "init W_regularizer b_regularizer W_constraint b_constraint"
	ofDepthwise  = "depthwise_initializer depthwise_regularizer depthwise_constraint depthwise_init"
	ofPointwise  = "pointwise_initializer pointwise_regularizer pointwise_constraint pointwise_init"

	ofAffine = "gamma_initializer gamma_regularizer gamma_constraint beta_initializer beta_regularizer " +
		"beta_constraint"

	window    = "kernel_size strides padding dilation_rate data_format use_bias activation"
	ofPooling = "pool_size strides padding data_format"
	ofRandom  = "rate seed noise_shape"
)

// everywhere lists the keys that any layer may have.
var everywhere = layerKind{
	reads: "name trainable dtype batch_shape",
	required: usual{
		"lora_rank":           {"null", "weights that are added to the kernel"},
		"lora_alpha":          {"null", "weights that are added to the kernel"},
		"quantization_mode":   {"null", "quantised weights"},
		"quantization_config": {"null", "quantised weights"},
	},
	ignores: "input_shape input_dim input_length input_dtype dynamic activity_regularizer",
}

var (
	oneGroup  = usual{"groups": {"1", "several groups"}}
	noPadding = usual{
		"output_padding": {"null", "another size than the one that follows from padding"},
		"groups":         oneGroup["groups"],
	}
	plainNorms = usual{
		"mode":               {"0", "statistics of single samples or of the batch"},
		"renorm":             {"false", "batch renormalisation"},
		"virtual_batch_size": {"null", "virtual batches"},
		"adjustment":         {"null", "a function of Python"},
	}
	plainSizes = usual{
		"antialias":            {"false", "a filter as wide as the scale"},
		"crop_to_aspect_ratio": {"false", "another part of the picture"},
		"pad_to_aspect_ratio":  {"false", "a border"},
	}
	plainLayers    = usual{"rms_scaling": {"false", "no mean"}}
	plainAttention = usual{
		"output_shape":    {"null", "another width"},
		"flash_attention": {"null", "a form of its own"},
		"use_gate":        {"false", "a gate"},
	}
	denseInput = usual{
		"sparse":   {"false", "sparse tensors"},
		"ragged":   {"false", "ragged tensors"},
		"optional": {"false", "an input that may be absent"},
	}
)

// kinds is the closed list of layers that have a counterpart in the graph, by their present
// names.
var kinds map[string]layerKind

func init() { // in init, because the makers refer to functions that use kinds
	conv := layerKind{reads: "filters groups " + window, ignores: ofWeights + " " + ofOldWeights}
	maxPool := layerKind{make: pool(graph.MaxPool), reads: ofPooling}
	avgPool := layerKind{make: pool(graph.AvgPool), reads: ofPooling}
	mean := layerKind{make: globalAverage, reads: "data_format keepdims"}
	most := layerKind{make: globalMax, reads: "data_format keepdims"}
	noise := func(ignores string) layerKind { return layerKind{make: identity, ignores: ignores} }
	kinds = map[string]layerKind{
		"InputLayer": {required: denseInput},

		"Conv1D": conv.madeBy(conv1D), "Conv2D": conv.madeBy(conv2D),
		"Conv2DTranspose": {make: convTranspose, reads: "filters output_shape " + window, required: noPadding,
			ignores: ofWeights + " " + ofOldWeights},
		"DepthwiseConv2D": {make: depthwise, reads: "depth_multiplier " + window, required: oneGroup,
			ignores: ofDepthwise + " " + ofWeights},
		"SeparableConv2D": {make: separable, reads: "filters depth_multiplier " + window, required: oneGroup,
			ignores: ofDepthwise + " " + ofPointwise + " " + ofWeights + " " + ofOldWeights},
		"Dense": {make: dense, reads: "units use_bias activation", ignores: ofWeights + " " + ofOldWeights},

		"BatchNormalization": {make: batchNorm, reads: "axis epsilon momentum scale center", required: plainNorms,
			ignores: "gamma_initializer gamma_regularizer gamma_constraint gamma_init " +
				"beta_initializer beta_regularizer beta_constraint beta_init moving_mean_initializer " +
				"moving_variance_initializer renorm_clipping renorm_momentum fused synchronized"},

		"Activation": {make: (*call).activation, reads: "activation"}, "Softmax": {make: softmax, reads: "axis"},
		"ReLU":      {make: relu, reads: "max_value negative_slope threshold"},
		"LeakyReLU": {make: leakyRelu, reads: "alpha"}, "ELU": {make: elu, reads: "alpha"},
		"Gelu": {make: gelu, reads: "approximate"}, "Mish": {make: operation(graph.Mish)},
		"Silu": {make: operation(graph.Silu)},
		"PReLU": {make: prelu, reads: "shared_axes",
			ignores: "alpha_initializer alpha_regularizer alpha_constraint init"},

		"MaxPooling1D": maxPool, "MaxPooling2D": maxPool, "AveragePooling1D": avgPool, "AveragePooling2D": avgPool,
		"GlobalMaxPooling1D": most, "GlobalMaxPooling2D": most,
		"GlobalAveragePooling1D": mean, "GlobalAveragePooling2D": mean,

		"Add": {make: merge(graph.Add), joins: true}, "Subtract": {make: merge(graph.Sub), joins: true},
		"Multiply": {make: merge(graph.Mul), joins: true}, "Average": {make: average, joins: true},
		"Concatenate": {make: concatenate, joins: true, reads: "axis"},

		"ZeroPadding1D": {make: pad, reads: "padding data_format"},
		"ZeroPadding2D": {make: pad, reads: "padding data_format"},
		"Cropping2D":    {make: crop, reads: "cropping data_format"},
		"UpSampling1D":  {make: upsample, reads: "size"},
		"UpSampling2D":  {make: upsample, reads: "size interpolation data_format"},
		"Reshape":       {make: reshape, reads: "target_shape"}, "Flatten": {make: flatten, reads: "data_format"},
		"Permute": {make: permute, reads: "dims"},

		"Dropout":       {make: dropout, reads: "rate noise_shape", ignores: "seed"},
		"Rescaling":     {make: rescale, reads: "scale offset"},
		"Normalization": {make: normalization, reads: "axis mean variance invert"},
		"Resizing": {make: resizing, reads: "height width interpolation data_format", required: plainSizes,
			ignores: "fill_mode fill_value"},
		"CenterCrop":      {make: centerCrop, reads: "height width data_format"},
		"TFOpLambda":      {make: opLambda, joins: true, reads: "function x y bias data_format approximate"},
		"SlicingOpLambda": {make: slicing, reads: "function slice_spec"},

		"LayerNormalization": {make: layerNorm, reads: "axis epsilon center scale", required: plainLayers,
			ignores: ofAffine},
		"GroupNormalization": {make: groupNorm, reads: "axis epsilon center scale groups", ignores: ofAffine},
		"UnitNormalization":  {make: unitNorm, reads: "axis"},
		"MultiHeadAttention": {make: attention, joins: true, reads: "num_heads key_dim value_dim use_bias " +
			"attention_axes", required: plainAttention, ignores: "dropout seed query_shape key_shape value_shape " +
			ofWeights},

		"SpatialDropout1D": noise(ofRandom), "AlphaDropout": noise(ofRandom),
		"SpatialDropout2D": {make: identity, reads: "data_format", ignores: ofRandom},
		"GaussianDropout":  noise(ofRandom), "GaussianNoise": noise("stddev sigma rate seed"),
		"ActivityRegularization": noise("l1 l2"),
	}
	addAugmentations(kinds)
}

// madeBy returns k with make as the function that makes its nodes.
func (k layerKind) madeBy(make func(*call) flow) layerKind {
	k.make = make
	return k
}

// dropout marks the place where training drops elements.
func dropout(c *call) flow {
	f := c.operand()
	p := c.float("rate", 0.5)
	if p == 0 {
		return f
	}
	var shape []*int
	if c.into("noise_shape", &shape, "a list of lengths"); shape != nil {
		c.note(c.name, "dropout with a noise shape is left out: it does nothing in prediction")
		return f
	}
	return f.sameOrder(c.node(graph.Dropout, "", []graph.Value{f.v}, "p", p))
}

// identity returns the operand of a layer that only has an effect in training and has no
// counterpart in the graph.
func identity(c *call) flow {
	c.note(c.name, "layer "+c.l.fileClass+" is left out: it does nothing in prediction, "+
		"and training here goes on without it")
	return c.operand()
}
