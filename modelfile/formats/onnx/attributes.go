package onnx

const (
	windowAttributes = "auto_pad dilations kernel_shape pads strides"
	legacyBroadcast  = "axis broadcast" // of operator set 6
	reduceAttributes = "axes keepdims noop_with_empty_axes"
)

// attributes is the table of all operators; docs/formats.md shows it.
var attributes = map[string]attributeSpec{
	"Conv":          {3, windowAttributes + " group", ""},
	"ConvTranspose": {3, windowAttributes + " group output_padding output_shape", ""},
	// storage_order orders the indices, which are refused.
	// Sequences and loops are gone when the file is read: see sequence.go.
	"SequenceEmpty": {0, "", "dtype"}, "SequenceConstruct": {manyOperands, "", ""},
	"SequenceInsert": {3, "", ""},
	"SequenceAt":     {2, "", ""}, "SequenceLength": {1, "", ""}, "SplitToSequence": {2, "axis keepdims", ""},
	"ConcatFromSequence": {1, "axis new_axis", ""}, "Loop": {manyOperands, "body", ""},
	"If":                {1, "else_branch then_branch", ""},
	"MaxPool":           {1, windowAttributes + " ceil_mode", "storage_order"},
	"AveragePool":       {1, windowAttributes + " ceil_mode count_include_pad", ""},
	"LpPool":            {1, windowAttributes + " ceil_mode p", ""},
	"GlobalMaxPool":     {1, "", ""},
	"GlobalAveragePool": {1, "", ""},

	// Up to operator set 6 broadcast says what C's shape says.
	"Gemm":   {3, "alpha beta transA transB", "broadcast"},
	"MatMul": {2, "", ""},
	// consumed_inputs says which buffers may be overwritten.
	"BatchNormalization": {5, "epsilon is_test momentum spatial training_mode", "consumed_inputs"},

	"Relu": {1, "", "consumed_inputs"}, "Sigmoid": {1, "", "consumed_inputs"},
	"Tanh": {1, "", "consumed_inputs"},
	"Exp":  {1, "", "consumed_inputs"}, "Log": {1, "", "consumed_inputs"}, "Sqrt": {1, "", "consumed_inputs"},
	"Softplus": {1, "", ""}, "HardSwish": {1, "", ""}, "Softsign": {1, "", ""},
	"Neg": {1, "", "consumed_inputs"}, "Abs": {1, "", "consumed_inputs"},
	"Floor": {1, "", "consumed_inputs"}, "Ceil": {1, "", "consumed_inputs"},
	"LeakyRelu": {1, "alpha", "consumed_inputs"}, "Elu": {1, "alpha", "consumed_inputs"},
	"Selu": {1, "alpha gamma", "consumed_inputs"}, "HardSigmoid": {1, "alpha beta", "consumed_inputs"},
	"PRelu": {2, "", "consumed_inputs"}, "Clip": {3, "max min", "consumed_inputs"},
	"Softmax": {1, "axis", ""}, "LogSoftmax": {1, "axis", ""}, "Celu": {1, "alpha", ""}, "Mish": {1, "", ""},
	"ThresholdedRelu": {1, "alpha", ""}, "Shrink": {1, "bias lambd", ""}, "Hardmax": {1, "axis", ""},
	"Sinh": {1, "", ""}, "Cosh": {1, "", ""}, "Asinh": {1, "", ""}, "Acosh": {1, "", ""}, "Atanh": {1, "", ""},
	"Erf": {1, "", ""}, "Gelu": {1, "approximate", ""},
	"Reciprocal": {1, "", "consumed_inputs"}, "Pow": {2, legacyBroadcast, ""},

	"Add": {2, legacyBroadcast, "consumed_inputs"}, "Sub": {2, legacyBroadcast, "consumed_inputs"},
	"Mul": {2, legacyBroadcast, "consumed_inputs"}, "Div": {2, legacyBroadcast, "consumed_inputs"},
	"Sum":  {manyOperands, "", "consumed_inputs"},
	"Mean": {manyOperands, "", "consumed_inputs"},
	"Max":  {manyOperands, "", "consumed_inputs"}, "Min": {manyOperands, "", "consumed_inputs"},
	"ReduceMean": {2, reduceAttributes, ""}, "ReduceProd": {2, reduceAttributes, ""},
	"ReduceL1": {2, reduceAttributes, ""}, "ReduceL2": {2, reduceAttributes, ""},
	"ReduceSumSquare": {2, reduceAttributes, ""}, "ReduceLogSum": {2, reduceAttributes, ""},
	"ReduceLogSumExp": {2, reduceAttributes, ""},

	// stash_type says in what type the moments are computed.
	"LayerNormalization":    {3, "axis epsilon", "stash_type"},
	"GroupNormalization":    {3, "epsilon num_groups", "stash_type"},
	"InstanceNormalization": {3, "epsilon", "consumed_inputs"},
	"LpNormalization":       {1, "axis p", ""},
	"ArgMax":                {1, "axis keepdims select_last_index", ""},
	"ReduceMax":             {2, reduceAttributes, ""},
	"ReduceMin":             {2, reduceAttributes, ""},
	"LRN":                   {1, "alpha beta bias size", ""},
	"ReduceSum":             {2, reduceAttributes, ""},

	"Concat": {manyOperands, "axis", ""}, "Split": {2, "axis num_outputs split", ""},
	"Slice":     {5, "axes ends starts", ""},
	"Pad":       {4, "mode pads value", ""},
	"Transpose": {1, "perm", ""}, "Expand": {2, "", ""}, "Flatten": {1, "axis", ""},
	"Reshape": {2, "allowzero shape", "consumed_inputs"},
	"Squeeze": {2, "axes", ""}, "Unsqueeze": {2, "axes", ""},
	"DepthToSpace": {1, "blocksize mode", ""}, "SpaceToDepth": {1, "blocksize", ""},
	"Resize": {4, "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside " +
		"extrapolation_value keep_aspect_ratio_policy mode nearest_mode", ""},
	"Upsample": {2, "mode scales", ""},

	// saturate is about 8-bit floats, which are refused.
	"Identity": {1, "", ""}, "Cast": {1, "to", "saturate"},
	// seed is of training.
	"Dropout": {3, "is_test ratio", "consumed_inputs seed"},

	"Constant": {0, "value value_float value_floats value_int value_ints value_string " +
		"value_strings sparse_value", ""},
	"ConstantOfShape": {1, "value", ""}, "Shape": {1, "end start", ""}, "Gather": {2, "axis", ""},
	"Size": {1, "", ""}, "Range": {3, "", ""}, "OneHot": {3, "axis", ""}, "EyeLike": {1, "dtype k", ""},
	"NonZero": {1, "", ""}, "CastLike": {2, "", "saturate"},
	"GatherElements": {2, "axis", ""}, "GatherND": {2, "batch_dims", ""},
	"ScatterND": {3, "reduction", ""}, "ScatterElements": {3, "axis reduction", ""}, "Scatter": {3, "axis", ""},
	"Tile": {2, "", ""}, "Where": {3, "", ""}, "Trilu": {2, "upper", ""},
	"Einsum": {manyOperands, "equation", ""}, "CumSum": {2, "exclusive reverse", ""},
	// sorted is about an order that is free otherwise.
	"TopK": {2, "axis k largest", "sorted"}, "ArgMin": {1, "axis keepdims select_last_index", ""},
	"Sign": {1, "", ""}, "Round": {1, "", ""}, "Sin": {1, "", ""}, "Cos": {1, "", ""}, "Tan": {1, "", ""},
	"Asin": {1, "", ""}, "Acos": {1, "", ""}, "Atan": {1, "", ""},
	"Compress": {2, "axis", ""}, "CenterCropPad": {2, "axes", ""},
	"Col2Im": {3, "dilations pads strides", ""}, "AffineGrid": {2, "align_corners", ""},
	"MeanVarianceNormalization": {1, "axes", ""},
	"Not":                       {1, "", ""}, "BitwiseNot": {1, "", ""}, "IsNaN": {1, "", ""},
	"IsInf": {1, "detect_negative detect_positive", ""}, "Mod": {2, "fmod", ""},
	"Equal": {2, legacyBroadcast, ""}, "Greater": {2, legacyBroadcast, ""}, "Less": {2, legacyBroadcast, ""},
	"GreaterOrEqual": {2, "", ""}, "LessOrEqual": {2, "", ""}, "And": {2, legacyBroadcast, ""},
	"Or": {2, legacyBroadcast, ""}, "Xor": {2, legacyBroadcast, ""},
	"BitwiseAnd": {2, "", ""}, "BitwiseOr": {2, "", ""}, "BitwiseXor": {2, "", ""},
	"QLinearConv": {9, windowAttributes + " group", ""}, "QLinearMatMul": {8, "", ""},
	"ConvInteger": {4, windowAttributes + " group", ""}, "MatMulInteger": {4, "", ""},
	"DynamicQuantizeLinear":     {1, "", ""},
	microsoft + "QGemm":         {9, "alpha transA transB", ""},
	microsoft + "QLinearAdd":    {8, "", ""},
	microsoft + "QLinearMul":    {8, "", ""},
	microsoft + "QLinearConcat": {manyOperands, "axis", ""},
	microsoft + "QLinearAveragePool": {5, windowAttributes + " ceil_mode channels_last count_include_pad",
		""},
	microsoft + "QLinearGlobalAveragePool": {5, "channels_last", ""},
	microsoft + "QLinearLeakyRelu":         {5, "alpha", ""},
	microsoft + "QLinearSigmoid":           {5, "", ""},
	microsoft + "QLinearSoftmax":           {5, "axis opset", ""},
	microsoft + "QLinearReduceMean":        {5, "axes keepdims", ""},
	microsoft + "QLinearWhere":             {9, "", ""},
	microsoft + "MatMulIntegerToFloat":     {7, "", ""},
	microsoft + "DynamicQuantizeMatMul":    {5, "", ""},
	microsoft + "QuantizeLinear":           {3, "axis", ""},
	microsoft + "DequantizeLinear":         {3, "axis", ""},

	"QuantizeLinear":   {3, "axis block_size output_dtype", "saturate"},
	"DequantizeLinear": {3, "axis block_size", ""},
}

// refusedValues says in words which values of honoured attributes and which
// operands have no counterpart; each is refused by a sentence that names it.
var refusedValues = map[string]string{
	"Conv":          "volumes",
	"ConvTranspose": "volumes; auto_pad SAME of a kernel that reaches less than its stride",
	"MaxPool": "the second result, indices, where something takes it; volumes, unless the window is one " +
		"element of the first axis or of the other two",
	"LpPool": "dilations above 1; ceil_mode where it changes the size; p below 1",
	"AveragePool": "dilations above 1; ceil_mode and count_include_pad where they meet; volumes, unless the " +
		"window is one element of the first axis or of the other two",
	"Gemm":               "transA or a matrix that is computed, unless the file fixes the batch to 1",
	"BatchNormalization": "training mode, but in train; spatial=0",
	"MatMul":             "of computed values whose batch axes do not meet",
	"Einsum": "of more than two operands that are not constant; " +
		"letters that a constant beside a value sums, or that an operand has twice",
	"ReduceMean":      "axis 0",
	"ReduceSum":       "axis 0",
	"ReduceMax":       "axis 0",
	"ReduceMin":       "axis 0",
	"ReduceProd":      "axis 0",
	"TopK":            "k that is not constant, or above 256",
	"Mod":             "values, other than constants, and but places by one positive constant",
	"OneHot":          "depth and values that are not constant",
	"Compress":        "a condition that is not constant",
	"CenterCropPad":   "a shape that is not constant",
	"Col2Im":          "shapes that are not constant; volumes",
	"AffineGrid":      "a size that is not constant",
	"Gather":          "indices that are not constant",
	"GatherElements":  "indices that are not constant; a batch that is open or more than 1",
	"GatherND":        "indices that are not constant, or of the batch axis where it is open or more than 1",
	"Scatter":         "indices or updates that are not constant; a batch that is open or more than 1",
	"ScatterElements": "indices or updates that are not constant; a batch that is open or more than 1",
	"ScatterND": "indices that are not constant, or of the batch axis where it is open or more than 1; of " +
		"computed updates tuples of several indices, and reductions",
	"Squeeze":   "an empty list of axes",
	"Transpose": "a perm that moves axis 0",
	"Flatten":   "axes other than 1, unless the file fixes the batch to 1",
	"Resize": "antialias of nearest; " +
		"volumes; axes other than those behind the channels",
	"If":             "a condition that is not constant",
	"SequenceAt":     "a place that is not constant",
	"SequenceInsert": "a place that is not constant",
	"Loop": "a number of rounds that is not constant; " +
		"results that are collected, one of each round",
	"SplitToSequence": "the batch axis; sizes that are not constant",
	"Upsample":        "volumes; axes other than those behind the channels",
	"Cast": "of floats to integers other than int32 and int64, unless a Clip keeps them within those; " +
		"to integers that may not have the number",
	"Dropout": "training mode, but in train; " +
		"a mask that is taken, before operator set 12",
	"Constant":                             "sparse_value; text",
	"QuantizeLinear":                       "block_size",
	"DequantizeLinear":                     "block_size",
	"QLinearMatMul":                        "a scale for each row",
	microsoft + "QLinearAveragePool":       "channels_last; what AveragePool refuses",
	microsoft + "QLinearGlobalAveragePool": "channels_last",
	microsoft + "QLinearSoftmax":           "opset below 13 in a file of 13, and the other way round",
}
