package onnx

import "github.com/bnctl/bnctl/modelfile/formats/onnx/internal/node"

const (
	windowAttributes = "auto_pad dilations kernel_shape pads strides"
	legacyBroadcast  = "axis broadcast" // of operator set 6
	reduceAttributes = "axes keepdims noop_with_empty_axes"
)

// attributes is the table of all operators; docs/formats.md shows it.
var attributes = map[string]node.Spec{
	"Conv":          {Operands: 3, Honoured: windowAttributes + " group", Irrelevant: ""},
	"ConvTranspose": {Operands: 3, Honoured: windowAttributes + " group output_padding output_shape", Irrelevant: ""},
	// storage_order orders the indices, which are refused.
	// Sequences and loops are gone when the file is read: see sequence.go.
	"SequenceEmpty": {Operands: 0, Honoured: "", Irrelevant: "dtype"}, "SequenceConstruct": {Operands: node.ManyOperands, Honoured: "", Irrelevant: ""},
	"SequenceInsert": {Operands: 3, Honoured: "", Irrelevant: ""},
	"SequenceAt":     {Operands: 2, Honoured: "", Irrelevant: ""}, "SequenceLength": {Operands: 1, Honoured: "", Irrelevant: ""}, "SplitToSequence": {Operands: 2, Honoured: "axis keepdims", Irrelevant: ""},
	"ConcatFromSequence": {Operands: 1, Honoured: "axis new_axis", Irrelevant: ""}, "Loop": {Operands: node.ManyOperands, Honoured: "body", Irrelevant: ""},
	"If":                {Operands: 1, Honoured: "else_branch then_branch", Irrelevant: ""},
	"MaxPool":           {Operands: 1, Honoured: windowAttributes + " ceil_mode", Irrelevant: "storage_order"},
	"AveragePool":       {Operands: 1, Honoured: windowAttributes + " ceil_mode count_include_pad", Irrelevant: ""},
	"LpPool":            {Operands: 1, Honoured: windowAttributes + " ceil_mode p", Irrelevant: ""},
	"GlobalMaxPool":     {Operands: 1, Honoured: "", Irrelevant: ""},
	"GlobalAveragePool": {Operands: 1, Honoured: "", Irrelevant: ""},

	// Up to operator set 6 broadcast says what C's shape says.
	"Gemm":   {Operands: 3, Honoured: "alpha beta transA transB", Irrelevant: "broadcast"},
	"MatMul": {Operands: 2, Honoured: "", Irrelevant: ""},
	// consumed_inputs says which buffers may be overwritten.
	"BatchNormalization": {Operands: 5, Honoured: "epsilon is_test momentum spatial training_mode", Irrelevant: "consumed_inputs"},

	"Relu": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"}, "Sigmoid": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"},
	"Tanh": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"},
	"Exp":  {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"}, "Log": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"}, "Sqrt": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"},
	"Softplus": {Operands: 1, Honoured: "", Irrelevant: ""}, "HardSwish": {Operands: 1, Honoured: "", Irrelevant: ""}, "Softsign": {Operands: 1, Honoured: "", Irrelevant: ""},
	"Neg": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"}, "Abs": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"},
	"Floor": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"}, "Ceil": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"},
	"LeakyRelu": {Operands: 1, Honoured: "alpha", Irrelevant: "consumed_inputs"}, "Elu": {Operands: 1, Honoured: "alpha", Irrelevant: "consumed_inputs"},
	"Selu": {Operands: 1, Honoured: "alpha gamma", Irrelevant: "consumed_inputs"}, "HardSigmoid": {Operands: 1, Honoured: "alpha beta", Irrelevant: "consumed_inputs"},
	"PRelu": {Operands: 2, Honoured: "", Irrelevant: "consumed_inputs"}, "Clip": {Operands: 3, Honoured: "max min", Irrelevant: "consumed_inputs"},
	"Softmax": {Operands: 1, Honoured: "axis", Irrelevant: ""}, "LogSoftmax": {Operands: 1, Honoured: "axis", Irrelevant: ""}, "Celu": {Operands: 1, Honoured: "alpha", Irrelevant: ""}, "Mish": {Operands: 1, Honoured: "", Irrelevant: ""},
	"ThresholdedRelu": {Operands: 1, Honoured: "alpha", Irrelevant: ""}, "Shrink": {Operands: 1, Honoured: "bias lambd", Irrelevant: ""}, "Hardmax": {Operands: 1, Honoured: "axis", Irrelevant: ""},
	"Sinh": {Operands: 1, Honoured: "", Irrelevant: ""}, "Cosh": {Operands: 1, Honoured: "", Irrelevant: ""}, "Asinh": {Operands: 1, Honoured: "", Irrelevant: ""}, "Acosh": {Operands: 1, Honoured: "", Irrelevant: ""}, "Atanh": {Operands: 1, Honoured: "", Irrelevant: ""},
	"Erf": {Operands: 1, Honoured: "", Irrelevant: ""}, "Gelu": {Operands: 1, Honoured: "approximate", Irrelevant: ""},
	"Reciprocal": {Operands: 1, Honoured: "", Irrelevant: "consumed_inputs"}, "Pow": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: ""},

	"Add": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: "consumed_inputs"}, "Sub": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: "consumed_inputs"},
	"Mul": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: "consumed_inputs"}, "Div": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: "consumed_inputs"},
	"Sum":  {Operands: node.ManyOperands, Honoured: "", Irrelevant: "consumed_inputs"},
	"Mean": {Operands: node.ManyOperands, Honoured: "", Irrelevant: "consumed_inputs"},
	"Max":  {Operands: node.ManyOperands, Honoured: "", Irrelevant: "consumed_inputs"}, "Min": {Operands: node.ManyOperands, Honoured: "", Irrelevant: "consumed_inputs"},
	"ReduceMean": {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""}, "ReduceProd": {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""},
	"ReduceL1": {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""}, "ReduceL2": {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""},
	"ReduceSumSquare": {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""}, "ReduceLogSum": {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""},
	"ReduceLogSumExp": {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""},

	// stash_type says in what type the moments are computed.
	"LayerNormalization":    {Operands: 3, Honoured: "axis epsilon", Irrelevant: "stash_type"},
	"GroupNormalization":    {Operands: 3, Honoured: "epsilon num_groups", Irrelevant: "stash_type"},
	"InstanceNormalization": {Operands: 3, Honoured: "epsilon", Irrelevant: "consumed_inputs"},
	"LpNormalization":       {Operands: 1, Honoured: "axis p", Irrelevant: ""},
	"ArgMax":                {Operands: 1, Honoured: "axis keepdims select_last_index", Irrelevant: ""},
	"ReduceMax":             {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""},
	"ReduceMin":             {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""},
	"LRN":                   {Operands: 1, Honoured: "alpha beta bias size", Irrelevant: ""},
	"ReduceSum":             {Operands: 2, Honoured: reduceAttributes, Irrelevant: ""},

	"Concat": {Operands: node.ManyOperands, Honoured: "axis", Irrelevant: ""}, "Split": {Operands: 2, Honoured: "axis num_outputs split", Irrelevant: ""},
	"Slice":     {Operands: 5, Honoured: "axes ends starts", Irrelevant: ""},
	"Pad":       {Operands: 4, Honoured: "mode pads value", Irrelevant: ""},
	"Transpose": {Operands: 1, Honoured: "perm", Irrelevant: ""}, "Expand": {Operands: 2, Honoured: "", Irrelevant: ""}, "Flatten": {Operands: 1, Honoured: "axis", Irrelevant: ""},
	"Reshape": {Operands: 2, Honoured: "allowzero shape", Irrelevant: "consumed_inputs"},
	"Squeeze": {Operands: 2, Honoured: "axes", Irrelevant: ""}, "Unsqueeze": {Operands: 2, Honoured: "axes", Irrelevant: ""},
	"DepthToSpace": {Operands: 1, Honoured: "blocksize mode", Irrelevant: ""}, "SpaceToDepth": {Operands: 1, Honoured: "blocksize", Irrelevant: ""},
	"Resize": {Operands: 4, Honoured: "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside " +
		"extrapolation_value keep_aspect_ratio_policy mode nearest_mode", Irrelevant: ""},
	"Upsample": {Operands: 2, Honoured: "mode scales", Irrelevant: ""},

	// saturate is about 8-bit floats, which are refused.
	"Identity": {Operands: 1, Honoured: "", Irrelevant: ""}, "Cast": {Operands: 1, Honoured: "to", Irrelevant: "saturate"},
	// seed is of training.
	"Dropout": {Operands: 3, Honoured: "is_test ratio", Irrelevant: "consumed_inputs seed"},

	"Constant": {Operands: 0, Honoured: "value value_float value_floats value_int value_ints value_string " +
		"value_strings sparse_value", Irrelevant: ""},
	"ConstantOfShape": {Operands: 1, Honoured: "value", Irrelevant: ""}, "Shape": {Operands: 1, Honoured: "end start", Irrelevant: ""}, "Gather": {Operands: 2, Honoured: "axis", Irrelevant: ""},
	"Size": {Operands: 1, Honoured: "", Irrelevant: ""}, "Range": {Operands: 3, Honoured: "", Irrelevant: ""}, "OneHot": {Operands: 3, Honoured: "axis", Irrelevant: ""}, "EyeLike": {Operands: 1, Honoured: "dtype k", Irrelevant: ""},
	"NonZero": {Operands: 1, Honoured: "", Irrelevant: ""}, "CastLike": {Operands: 2, Honoured: "", Irrelevant: "saturate"},
	"GatherElements": {Operands: 2, Honoured: "axis", Irrelevant: ""}, "GatherND": {Operands: 2, Honoured: "batch_dims", Irrelevant: ""},
	"ScatterND": {Operands: 3, Honoured: "reduction", Irrelevant: ""}, "ScatterElements": {Operands: 3, Honoured: "axis reduction", Irrelevant: ""}, "Scatter": {Operands: 3, Honoured: "axis", Irrelevant: ""},
	"Tile": {Operands: 2, Honoured: "", Irrelevant: ""}, "Where": {Operands: 3, Honoured: "", Irrelevant: ""}, "Trilu": {Operands: 2, Honoured: "upper", Irrelevant: ""},
	"Einsum": {Operands: node.ManyOperands, Honoured: "equation", Irrelevant: ""}, "CumSum": {Operands: 2, Honoured: "exclusive reverse", Irrelevant: ""},
	// sorted is about an order that is free otherwise.
	"TopK": {Operands: 2, Honoured: "axis k largest", Irrelevant: "sorted"}, "ArgMin": {Operands: 1, Honoured: "axis keepdims select_last_index", Irrelevant: ""},
	"Sign": {Operands: 1, Honoured: "", Irrelevant: ""}, "Round": {Operands: 1, Honoured: "", Irrelevant: ""}, "Sin": {Operands: 1, Honoured: "", Irrelevant: ""}, "Cos": {Operands: 1, Honoured: "", Irrelevant: ""}, "Tan": {Operands: 1, Honoured: "", Irrelevant: ""},
	"Asin": {Operands: 1, Honoured: "", Irrelevant: ""}, "Acos": {Operands: 1, Honoured: "", Irrelevant: ""}, "Atan": {Operands: 1, Honoured: "", Irrelevant: ""},
	"Compress": {Operands: 2, Honoured: "axis", Irrelevant: ""}, "CenterCropPad": {Operands: 2, Honoured: "axes", Irrelevant: ""},
	"Col2Im": {Operands: 3, Honoured: "dilations pads strides", Irrelevant: ""}, "AffineGrid": {Operands: 2, Honoured: "align_corners", Irrelevant: ""},
	"MeanVarianceNormalization": {Operands: 1, Honoured: "axes", Irrelevant: ""},
	"Not":                       {Operands: 1, Honoured: "", Irrelevant: ""}, "BitwiseNot": {Operands: 1, Honoured: "", Irrelevant: ""}, "IsNaN": {Operands: 1, Honoured: "", Irrelevant: ""},
	"IsInf": {Operands: 1, Honoured: "detect_negative detect_positive", Irrelevant: ""}, "Mod": {Operands: 2, Honoured: "fmod", Irrelevant: ""},
	"Equal": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: ""}, "Greater": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: ""}, "Less": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: ""},
	"GreaterOrEqual": {Operands: 2, Honoured: "", Irrelevant: ""}, "LessOrEqual": {Operands: 2, Honoured: "", Irrelevant: ""}, "And": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: ""},
	"Or": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: ""}, "Xor": {Operands: 2, Honoured: legacyBroadcast, Irrelevant: ""},
	"BitwiseAnd": {Operands: 2, Honoured: "", Irrelevant: ""}, "BitwiseOr": {Operands: 2, Honoured: "", Irrelevant: ""}, "BitwiseXor": {Operands: 2, Honoured: "", Irrelevant: ""},
	"QLinearConv": {Operands: 9, Honoured: windowAttributes + " group", Irrelevant: ""}, "QLinearMatMul": {Operands: 8, Honoured: "", Irrelevant: ""},
	"ConvInteger": {Operands: 4, Honoured: windowAttributes + " group", Irrelevant: ""}, "MatMulInteger": {Operands: 4, Honoured: "", Irrelevant: ""},
	"DynamicQuantizeLinear":     {Operands: 1, Honoured: "", Irrelevant: ""},
	microsoft + "QGemm":         {Operands: 9, Honoured: "alpha transA transB", Irrelevant: ""},
	microsoft + "QLinearAdd":    {Operands: 8, Honoured: "", Irrelevant: ""},
	microsoft + "QLinearMul":    {Operands: 8, Honoured: "", Irrelevant: ""},
	microsoft + "QLinearConcat": {Operands: node.ManyOperands, Honoured: "axis", Irrelevant: ""},
	microsoft + "QLinearAveragePool": {Operands: 5, Honoured: windowAttributes + " ceil_mode channels_last count_include_pad",
		Irrelevant: ""},
	microsoft + "QLinearGlobalAveragePool": {Operands: 5, Honoured: "channels_last", Irrelevant: ""},
	microsoft + "QLinearLeakyRelu":         {Operands: 5, Honoured: "alpha", Irrelevant: ""},
	microsoft + "QLinearSigmoid":           {Operands: 5, Honoured: "", Irrelevant: ""},
	microsoft + "QLinearSoftmax":           {Operands: 5, Honoured: "axis opset", Irrelevant: ""},
	microsoft + "QLinearReduceMean":        {Operands: 5, Honoured: "axes keepdims", Irrelevant: ""},
	microsoft + "QLinearWhere":             {Operands: 9, Honoured: "", Irrelevant: ""},
	microsoft + "MatMulIntegerToFloat":     {Operands: 7, Honoured: "", Irrelevant: ""},
	microsoft + "DynamicQuantizeMatMul":    {Operands: 5, Honoured: "", Irrelevant: ""},
	microsoft + "QuantizeLinear":           {Operands: 3, Honoured: "axis", Irrelevant: ""},
	microsoft + "DequantizeLinear":         {Operands: 3, Honoured: "axis", Irrelevant: ""},

	"QuantizeLinear":   {Operands: 3, Honoured: "axis block_size output_dtype", Irrelevant: "saturate"},
	"DequantizeLinear": {Operands: 3, Honoured: "axis block_size", Irrelevant: ""},
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
