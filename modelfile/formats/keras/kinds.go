package keras

import "github.com/bnctl/bnctl/graph"

// kind is all that is known of a class of layers: what makes nodes of it, and
// what becomes of every key of its configuration. A key that stands nowhere is
// refused: a later version of Keras may compute something else with it. The
// lists hold names with spaces between; keys of Keras 1 have their present
// names by then.
type kind struct {
	make    func(*call) flow
	joins   bool   // it takes any number of operands, others one
	heeds   string // read, and turned into the graph
	only    usual  // read, and refused with any but the usual value
	ignores string // of no account for what the layer computes in prediction
}

// usual gives the JSON of the only value that is supported of a key, and what
// any other would ask for.
type usual map[string]struct{ value, asks string }

// Keys that many kinds share.
const (
	ofWeights = "kernel_initializer kernel_regularizer kernel_constraint " + ofBias
	ofBias    = "bias_initializer bias_regularizer bias_constraint"
	// Keras 1 drew and held its weights by these.
	ofOldWeights = "init W_regularizer b_regularizer W_constraint b_constraint"
	ofDepthwise  = "depthwise_initializer depthwise_regularizer depthwise_constraint depthwise_init"
	ofPointwise  = "pointwise_initializer pointwise_regularizer pointwise_constraint pointwise_init"

	ofAffine = "gamma_initializer gamma_regularizer gamma_constraint beta_initializer beta_regularizer " +
		"beta_constraint"

	window    = "kernel_size strides padding dilation_rate data_format use_bias activation"
	ofPooling = "pool_size strides padding data_format"
	ofRandom  = "rate seed noise_shape"
)

// everywhere is what any layer may have.
var everywhere = kind{
	heeds: "name trainable dtype batch_shape",
	only: usual{
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
	plainLayers = usual{"rms_scaling": {"false", "no mean"}}
	denseInput  = usual{
		"sparse":   {"false", "sparse tensors"},
		"ragged":   {"false", "ragged tensors"},
		"optional": {"false", "an input that may be absent"},
	}
)

// kinds is the closed list of layers that have a counterpart in the graph, by
// the name of today.
var kinds map[string]kind

func init() { // the makers refer to the table's users
	conv := kind{heeds: "filters groups " + window, ignores: ofWeights + " " + ofOldWeights}
	maxPool := kind{make: pool(graph.MaxPool), heeds: ofPooling}
	avgPool := kind{make: pool(graph.AvgPool), heeds: ofPooling}
	mean := kind{make: globalAverage, heeds: "data_format keepdims"}
	most := kind{make: globalMax, heeds: "data_format keepdims"}
	noise := func(ignores string) kind { return kind{make: leftOut, ignores: ignores} }
	kinds = map[string]kind{
		"InputLayer": {only: denseInput},

		"Conv1D": conv.by(conv1D), "Conv2D": conv.by(conv2D),
		"Conv2DTranspose": {make: convTranspose, heeds: "filters output_shape " + window, only: noPadding,
			ignores: ofWeights + " " + ofOldWeights},
		"DepthwiseConv2D": {make: depthwise, heeds: "depth_multiplier " + window, only: oneGroup,
			ignores: ofDepthwise + " " + ofWeights},
		"SeparableConv2D": {make: separable, heeds: "filters depth_multiplier " + window, only: oneGroup,
			ignores: ofDepthwise + " " + ofPointwise + " " + ofWeights + " " + ofOldWeights},
		"Dense": {make: dense, heeds: "units use_bias activation", ignores: ofWeights + " " + ofOldWeights},

		"BatchNormalization": {make: batchNorm, heeds: "axis epsilon momentum scale center", only: plainNorms,
			ignores: "gamma_initializer gamma_regularizer gamma_constraint gamma_init " +
				"beta_initializer beta_regularizer beta_constraint beta_init moving_mean_initializer " +
				"moving_variance_initializer renorm_clipping renorm_momentum fused synchronized"},

		"Activation": {make: (*call).activation, heeds: "activation"}, "Softmax": {make: softmax, heeds: "axis"},
		"ReLU":      {make: relu, heeds: "max_value negative_slope threshold"},
		"LeakyReLU": {make: leakyRelu, heeds: "alpha"}, "ELU": {make: elu, heeds: "alpha"},
		"PReLU": {make: prelu, heeds: "shared_axes",
			ignores: "alpha_initializer alpha_regularizer alpha_constraint init"},

		"MaxPooling1D": maxPool, "MaxPooling2D": maxPool, "AveragePooling1D": avgPool, "AveragePooling2D": avgPool,
		"GlobalMaxPooling1D": most, "GlobalMaxPooling2D": most,
		"GlobalAveragePooling1D": mean, "GlobalAveragePooling2D": mean,

		"Add": {make: merge(graph.Add), joins: true}, "Subtract": {make: merge(graph.Sub), joins: true},
		"Multiply": {make: merge(graph.Mul), joins: true}, "Average": {make: average, joins: true},
		"Concatenate": {make: concatenate, joins: true, heeds: "axis"},

		"ZeroPadding1D": {make: pad, heeds: "padding data_format"},
		"ZeroPadding2D": {make: pad, heeds: "padding data_format"},
		"Cropping2D":    {make: crop, heeds: "cropping data_format"},
		"UpSampling1D":  {make: upsample, heeds: "size"},
		"UpSampling2D":  {make: upsample, heeds: "size interpolation data_format"},
		"Reshape":       {make: reshape, heeds: "target_shape"}, "Flatten": {make: flatten, heeds: "data_format"},
		"Permute": {make: permute, heeds: "dims"},

		"Dropout":       {make: dropout, heeds: "rate noise_shape", ignores: "seed"},
		"Rescaling":     {make: rescale, heeds: "scale offset"},
		"Normalization": {make: normalization, heeds: "axis mean variance invert"},
		"Resizing": {make: resizing, heeds: "height width interpolation data_format", only: plainSizes,
			ignores: "fill_mode fill_value"},
		"CenterCrop":      {make: centerCrop, heeds: "height width data_format"},
		"TFOpLambda":      {make: opLambda, joins: true, heeds: "function x y bias data_format"},
		"SlicingOpLambda": {make: slicing, heeds: "function slice_spec"},

		"LayerNormalization": {make: layerNorm, heeds: "axis epsilon center scale", only: plainLayers,
			ignores: ofAffine},
		"GroupNormalization": {make: groupNorm, heeds: "axis epsilon center scale groups", ignores: ofAffine},
		"UnitNormalization":  {make: unitNorm, heeds: "axis"},

		"SpatialDropout1D": noise(ofRandom), "AlphaDropout": noise(ofRandom),
		"SpatialDropout2D": {make: leftOut, heeds: "data_format", ignores: ofRandom},
		"GaussianDropout":  noise(ofRandom), "GaussianNoise": noise("stddev sigma rate seed"),
		"ActivityRegularization": noise("l1 l2"),
	}
	addAugmentations(kinds)
}

// by returns k with a maker.
func (k kind) by(make func(*call) flow) kind {
	k.make = make
	return k
}

// dropout marks the place where training drops elements.
func dropout(c *call) flow {
	f := c.one()
	p := c.float("rate", 0.5)
	if p == 0 {
		return f
	}
	var shape []*int
	if c.into("noise_shape", &shape, "a list of lengths"); shape != nil {
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
