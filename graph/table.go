package graph

import (
	"fmt"
	"maps"
	"slices"
)

// attrSpec declares an attribute: its default value, which has the Go type of the attribute, and whether the
// attribute is required.
type attrSpec struct {
	key      string
	def      any
	required bool
}

// opRow is one row of the operation table.
type opRow struct {
	name     string
	operands int  // operands, including optional ones
	optional int  // number of last operands that may be absent
	variadic bool // operands is the minimum number of operands
	out      int
	attrs    []attrSpec
	host     bool // done by the host, never by a device
	infer    func(*inference) error
	grad     gradRule // nil: the operation has no derivative
	// straight is the gradient of an operation that rounds, as if it did not round. It is nil for others.
	straight gradRule
	// decompose replaces the operation by simpler operations; nil: devices must support the operation.
	decompose decomposition
}

var (
	two1     = []int64{1, 1}
	convSpec = []attrSpec{{"stride", two1, false}, {"pad", []int64{0, 0, 0, 0}, false},
		{"dilation", two1, false}, {"groups", int64(1), false}}
	poolSpec = []attrSpec{{"kernel", []int64(nil), true}, {"stride", two1, false},
		{"pad", []int64{0, 0, 0, 0}, false}}
	sliceSpec = []attrSpec{{"begin", []int64(nil), true}, {"end", []int64(nil), true},
		{"step", []int64(nil), false}}
	denseSpec  = []attrSpec{{"leading", int64(0), false}}
	epsSpec    = attrSpec{"eps", 1e-5, false}
	overSpec   = attrSpec{"over", "batch", false}
	axisSpec   = attrSpec{"axis", int64(0), false}
	takeSpec   = []attrSpec{axisSpec, {"index", []int64(nil), true}}
	sizeSpec   = attrSpec{"size", []int64(nil), true}
	reduceSpec = []attrSpec{{"axes", []int64(nil), true}, {"keep", false, false}}
	lossSpec   = []attrSpec{{"ignore", int64(-1), false}, {"smoothing", 0.0, false},
		{"weighted_targets", false, false}, {"weights", []float64(nil), false}}
	axesSpec  = attrSpec{"axes", []int64(nil), true}
	groupSpec = attrSpec{"groups", int64(1), true}
	halveSpec = []attrSpec{{"halve_last", false, false}}
	zeroSpec  = attrSpec{"zero", int64(0), false}
	xZeroSpec = attrSpec{"x_zero", int64(0), false}
	// boundSpec is the bounds of an int8 result; sumSpec is the parameters of an int8
	// product.
	boundSpec = []attrSpec{{"zero", int64(0), false}, {"min", int64(0), false}, {"max", int64(255), false}}
	sumSpec   = specs(boundSpec, xZeroSpec, attrSpec{"float", false, false})
	pairSpec  = specs(boundSpec, attrSpec{"a_zero", int64(0), false}, attrSpec{"b_zero", int64(0), false},
		attrSpec{"joint", "", false})
	// trackSpec defines the update of running statistics (docs/numerics.md, section 1).
	trackSpec = []attrSpec{{"decay", 0.9, false}, {"cumulative", false, false}, {"variance", "unbiased", false}}
)

func specs(base []attrSpec, others ...attrSpec) []attrSpec {
	return append(append([]attrSpec(nil), base...), others...)
}

// table is the closed list of operations. docs/contributing/operation.md is the checklist for
// a new one; go run ./scripts/op NAME prints the places where it is missing.
//
// A new attribute of an existing operation needs its line in device.proto and an entry in
// addedLater: a plugin that was built before refuses a node that has it.
var (
	table   map[Op]*opRow
	opNamed map[string]Op
)

func init() { // the rules refer to the table's accessors
	table = map[Op]*opRow{
		Image: {name: "image", operands: 1, out: 1,
			attrs: []attrSpec{{"scale", 1.0 / 255, false}, {"mean", []float64(nil), false},
				{"std", []float64(nil), false}, {"bgr", false, false}},
			infer: inferImage},

		Conv: {name: "conv", operands: 3, optional: 1, out: 1, attrs: convSpec, infer: inferConv,
			grad: gradConv},
		ConvGradInput: {name: "conv_grad_input", operands: 2, out: 1, attrs: specs(convSpec, sizeSpec),
			infer: inferConvGradInput},
		ConvGradWeight: {name: "conv_grad_weight", operands: 2, out: 1,
			attrs: specs(convSpec, attrSpec{"kernel", []int64(nil), true}), infer: inferConvGradWeight},
		ConvTranspose: {name: "conv_transpose", operands: 3, optional: 1, out: 1,
			attrs: specs(convSpec, attrSpec{"output_pad", []int64{0, 0}, false}),
			infer: inferConvTranspose, grad: gradConvTranspose, decompose: decomposeConvTranspose},

		Dense: {name: "dense", operands: 3, optional: 1, out: 1, attrs: denseSpec, infer: inferDense,
			grad: gradDense},
		DenseGradInput: {name: "dense_grad_input", operands: 2, out: 1, attrs: denseSpec,
			infer: inferDenseGradInput},
		DenseGradWeight: {name: "dense_grad_weight", operands: 2, out: 1, attrs: denseSpec,
			infer: inferDenseGradWeight},
		MatMul: {name: "matmul", operands: 2, out: 1,
			attrs: []attrSpec{{"transpose_a", false, false}, {"transpose_b", false, false}},
			infer: inferMatMul, grad: gradMatMul},

		Moments:        {name: "moments", operands: 1, out: 1, infer: inferMoments},
		RunningMoments: {name: "running_moments", operands: 2, out: 1, infer: inferRunningMoments},
		SelectMoments: {name: "select_moments", operands: 2, out: 1,
			attrs: []attrSpec{{"min", int64(2), false}}, infer: inferSelectMoments},
		Normalise: {name: "normalise", operands: 4, out: 1, attrs: []attrSpec{epsSpec, overSpec},
			infer: inferNormalise, grad: gradNormalise},
		NormaliseGradSums: {name: "normalise_grad_sums", operands: 3, out: 1, attrs: []attrSpec{overSpec},
			infer: inferNormaliseGradSums},
		NormaliseGradInput: {name: "normalise_grad_input", operands: 5, out: 1,
			attrs: []attrSpec{epsSpec, overSpec}, infer: inferNormaliseGradInput},
		NormaliseGradParams: {name: "normalise_grad_params", operands: 2, out: 2, attrs: []attrSpec{epsSpec},
			infer: inferNormaliseGradParams},
		BatchNorm: {name: "batch_norm", operands: 5, out: 1, attrs: specs(trackSpec, epsSpec),
			infer: inferBatchNorm, grad: gradBatchNorm, decompose: decomposeBatchNorm},

		AllReduce: {name: "all_reduce", operands: 1, out: 1, attrs: []attrSpec{{"of", "sum", false}},
			infer: inferAllReduce},
		Split: {name: "split", operands: 1, out: 1, host: true, attrs: []attrSpec{{"replicas", int64(1), true}},
			infer: inferConnection},
		Gather: {name: "gather", operands: 1, out: 1, host: true,
			attrs: []attrSpec{{"replicas", int64(1), true}}, infer: inferConnection},
		Track: {name: "track", operands: 3, out: 0, host: true,
			attrs: specs(trackSpec, attrSpec{"stats", "pooled", false}), infer: inferTrack},

		Relu: {name: "relu", operands: 1, out: 1, infer: inferActivation, grad: gradActivation},
		Relu6: {name: "relu6", operands: 1, out: 1, infer: inferActivation, grad: gradActivation,
			decompose: decomposeRelu6},
		LeakyRelu: {name: "leaky_relu", operands: 1, out: 1, attrs: []attrSpec{{"alpha", 0.01, false}},
			infer: inferActivation, grad: gradActivation, decompose: decomposeLeakyRelu},
		Elu: {name: "elu", operands: 1, out: 1, attrs: []attrSpec{{"alpha", 1.0, false}},
			infer: inferActivation, grad: gradActivation},
		Sigmoid: {name: "sigmoid", operands: 1, out: 1, infer: inferActivation, grad: gradActivation},
		HardSigmoid: {name: "hard_sigmoid", operands: 1, out: 1,
			attrs: []attrSpec{{"alpha", 1.0 / 6, false}, {"beta", 0.5, false}}, infer: inferActivation,
			grad: gradActivation, decompose: decomposeHardSigmoid},
		Silu: {name: "silu", operands: 1, out: 1, infer: inferActivation, grad: gradActivation,
			decompose: decomposeSilu},
		HardSwish: {name: "hard_swish", operands: 1, out: 1, infer: inferActivation, grad: gradActivation,
			decompose: decomposeHardSwish},
		Tanh:     {name: "tanh", operands: 1, out: 1, infer: inferActivation, grad: gradActivation},
		Softplus: {name: "softplus", operands: 1, out: 1, infer: inferActivation, grad: gradActivation},
		Prelu:    {name: "prelu", operands: 2, out: 1, infer: inferPrelu, grad: gradPrelu},
		ActivationGrad: {name: "activation_grad", operands: 2, out: 1,
			attrs: []attrSpec{{"of", "", true}, {"alpha", 0.0, false}, {"beta", 0.0, false},
				{"min", 0.0, false}, {"max", 0.0, false}},
			infer: inferActivationGrad},
		PreluGradInput: {name: "prelu_grad_input", operands: 3, out: 1, infer: inferPreluGradInput},
		PreluGradSlope: {name: "prelu_grad_slope", operands: 2, out: 1, infer: inferPreluGradSlope},
		Softmax: {name: "softmax", operands: 1, out: 1, attrs: []attrSpec{axisSpec}, infer: inferSoftmax,
			grad: gradSoftmax},
		LogSoftmax: {name: "log_softmax", operands: 1, out: 1, attrs: []attrSpec{axisSpec}, infer: inferSoftmax,
			grad: gradLogSoftmax},
		SoftmaxGrad: {name: "softmax_grad", operands: 2, out: 1, attrs: []attrSpec{axisSpec},
			infer: inferSoftmax, decompose: decomposeSoftmaxGrad},
		LogSoftmaxGrad: {name: "log_softmax_grad", operands: 2, out: 1, attrs: []attrSpec{axisSpec},
			infer: inferSoftmax, decompose: decomposeLogSoftmaxGrad},

		MaxPool:     {name: "max_pool", operands: 1, out: 1, attrs: poolSpec, infer: inferPool, grad: gradMaxPool},
		MaxPoolGrad: {name: "max_pool_grad", operands: 2, out: 1, attrs: poolSpec, infer: inferMaxPoolGrad},
		AvgPool: {name: "avg_pool", operands: 1, out: 1,
			attrs: specs(poolSpec, attrSpec{"count_pad", false, false}), infer: inferPool,
			grad: gradAvgPool},
		AvgPoolGrad: {name: "avg_pool_grad", operands: 1, out: 1,
			attrs: specs(poolSpec, attrSpec{"count_pad", false, false}, sizeSpec),
			infer: inferAvgPoolGrad},
		GlobalAvgPool: {name: "global_avg_pool", operands: 1, out: 1, infer: inferGlobalAvgPool,
			grad: gradGlobalAvgPool, decompose: decomposeGlobalAvgPool},
		GlobalAvgPoolGrad: {name: "global_avg_pool_grad", operands: 1, out: 1, attrs: []attrSpec{sizeSpec},
			infer: inferGlobalAvgPoolGrad, decompose: decomposeGlobalAvgPoolGrad},

		Add:  {name: "add", operands: 2, out: 1, infer: inferBinary, grad: gradAdd},
		Sub:  {name: "sub", operands: 2, out: 1, infer: inferBinary, grad: gradSub},
		Mul:  {name: "mul", operands: 2, out: 1, infer: inferBinary, grad: gradMul},
		Div:  {name: "div", operands: 2, out: 1, infer: inferBinary, grad: gradDiv},
		Exp:  {name: "exp", operands: 1, out: 1, infer: inferUnary, grad: gradExp},
		Log:  {name: "log", operands: 1, out: 1, infer: inferUnary, grad: gradLog},
		Sqrt: {name: "sqrt", operands: 1, out: 1, infer: inferUnary, grad: gradSqrt},
		Affine: {name: "affine", operands: 1, out: 1,
			attrs: []attrSpec{{"by", 1.0, false}, {"add", 0.0, false}}, infer: inferUnary,
			grad: gradAffine},
		Clip: {name: "clip", operands: 1, out: 1, attrs: []attrSpec{{"min", 0.0, true}, {"max", 0.0, true}},
			infer: inferUnary, grad: gradActivation},
		ReduceSum: {name: "reduce_sum", operands: 1, out: 1,
			attrs: reduceSpec, infer: inferReduce, grad: gradReduceSum},
		ReduceMean: {name: "reduce_mean", operands: 1, out: 1,
			attrs: reduceSpec, infer: inferReduce, grad: gradReduceMean},
		BroadcastTo: {name: "broadcast_to", operands: 1, out: 1,
			attrs: []attrSpec{{"shape", []int64(nil), true}}, infer: inferBroadcastTo,
			grad: gradBroadcastTo},
		SumRows: {name: "sum_rows", operands: 1, out: 1, infer: inferSumRows},
		ChannelSum: {name: "channel_sum", operands: 1, out: 1, infer: inferChannelSum,
			decompose: decomposeChannelSum},

		Concat: {name: "concat", operands: 1, variadic: true, out: 1, attrs: []attrSpec{axisSpec},
			infer: inferConcat, grad: gradConcat},
		Slice: {name: "slice", operands: 1, out: 1,
			attrs: sliceSpec,
			infer: inferSlice, grad: gradSlice},
		SliceGrad: {name: "slice_grad", operands: 1, out: 1,
			attrs: specs(sliceSpec, sizeSpec),
			infer: inferSliceGrad, decompose: decomposeSliceGrad},
		Pad: {name: "pad", operands: 1, out: 1,
			attrs: []attrSpec{{"before", []int64(nil), true}, {"after", []int64(nil), true}, {"value", 0.0, false}},
			infer: inferPad, grad: gradPad},
		Reshape: {name: "reshape", operands: 1, out: 1, attrs: []attrSpec{{"shape", []int64(nil), true}},
			infer: inferReshape, grad: gradReshape},
		Transpose: {name: "transpose", operands: 1, out: 1, attrs: []attrSpec{{"perm", []int64(nil), true}},
			infer: inferTranspose, grad: gradTranspose},
		Upsample: {name: "upsample", operands: 1, out: 1,
			attrs: []attrSpec{sizeSpec, {"mode", "nearest", false}, {"align_corners", false, false}},
			infer: inferUpsample, grad: gradUpsample, decompose: decomposeUpsample},
		UpsampleGrad: {name: "upsample_grad", operands: 1, out: 1,
			attrs: []attrSpec{{"from", []int64(nil), true}, {"mode", "nearest", false},
				{"align_corners", false, false}},
			infer: inferUpsampleGrad},
		Dropout: {name: "dropout", operands: 2, optional: 1, out: 1,
			attrs: []attrSpec{{"p", 0.5, false}, {"seed", int64(0), false}, {"stream", int64(0), false},
				{"each", "element", false}},
			infer: inferDropout, grad: gradDropout},
		Take: {name: "take", operands: 1, out: 1, attrs: takeSpec, infer: inferTake, grad: gradTake,
			decompose: decomposeTake},
		TakeGrad: {name: "take_grad", operands: 1, out: 1, attrs: specs(takeSpec, sizeSpec), infer: inferTakeGrad,
			decompose: decomposeTakeGrad},

		Detect: {name: "detect", operands: 3, optional: 1, out: 1,
			attrs: []attrSpec{{"form", "", true}, {"most", int64(1), true}, {"before", int64(0), false},
				{"starts", []int64(nil), false}, {"size", []int64(nil), false}},
			infer: inferDetect},

		SoftmaxXent: {name: "softmax_xent", operands: 3, optional: 1, out: 1,
			attrs: lossSpec,
			infer: inferSoftmaxXent, grad: gradSoftmaxXent},
		SoftmaxXentGrad: {name: "softmax_xent_grad", operands: 4, optional: 1, out: 1,
			attrs: lossSpec,
			infer: inferSoftmaxXentGrad},
		Correct: {name: "correct", operands: 2, out: 1, attrs: []attrSpec{{"ignore", int64(-1), false}},
			infer: inferCorrect},

		SGD: {name: "sgd", operands: 4, out: 2,
			attrs: []attrSpec{{"momentum", 0.9, false}, {"weight_decay", 0.0, false}, {"nesterov", false, false}},
			infer: inferSGD},
		AdamW: {name: "adamw", operands: 7, out: 3,
			attrs: []attrSpec{{"beta1", 0.9, false}, {"beta2", 0.999, false}, {"eps", 1e-8, false},
				{"weight_decay", 0.0, false}},
			infer: inferAdamW},
		LARS: {name: "lars", operands: 5, out: 2,
			attrs: []attrSpec{{"momentum", 0.9, false}, {"weight_decay", 0.0, false}}, infer: inferLARS},
		EMA:        {name: "ema", operands: 2, out: 1, attrs: []attrSpec{{"decay", 0.999, false}}, infer: inferEMA},
		SumSquares: {name: "sum_squares", operands: 1, out: 1, infer: inferSumSquares},
		TrustRatio: {name: "trust_ratio", operands: 2, out: 1,
			attrs: []attrSpec{{"eta", 0.001, false}, {"weight_decay", 0.0, false}, {"eps", 1e-9, false}},
			infer: inferTrustRatio},
		ClipFactor: {name: "clip_factor", operands: 1, out: 1, attrs: []attrSpec{{"max", 0.0, true}},
			infer: inferClipFactor},

		Max: {name: "max", operands: 2, out: 1, infer: inferBinary, grad: gradExtreme},
		Min: {name: "min", operands: 2, out: 1, infer: inferBinary, grad: gradExtreme},
		Pow: {name: "pow", operands: 2, out: 1, infer: inferBinary, grad: gradPow},
		Compare: {name: "compare", operands: 2, optional: 1, out: 1, attrs: []attrSpec{{"of", "", true}},
			infer: inferCompare, grad: gradNone},
		Where: {name: "where", operands: 3, optional: 1, out: 1, infer: inferWhere, grad: gradWhere},
		Round: {name: "round", operands: 1, out: 1, attrs: []attrSpec{{"mode", "even", false}}, infer: inferRound,
			grad: gradNone},
		ReduceMax: {name: "reduce_max", operands: 1, out: 1, attrs: reduceSpec, infer: inferReduce,
			grad: gradReduceExtreme, decompose: decomposeReduceExtreme},
		ReduceMin: {name: "reduce_min", operands: 1, out: 1, attrs: reduceSpec, infer: inferReduce,
			grad: gradReduceExtreme, decompose: decomposeReduceExtreme},
		ReduceProd: {name: "reduce_prod", operands: 1, out: 1, attrs: reduceSpec, infer: inferReduce,
			grad: gradReduceProd},
		LayerNorm: {name: "layer_norm", operands: 3, optional: 2, out: 1, attrs: []attrSpec{axesSpec, epsSpec},
			infer: inferLayerNorm, grad: gradLayerNorm, decompose: decomposeLayerNorm},
		LayerNormGrad: {name: "layer_norm_grad", operands: 2, out: 1, attrs: []attrSpec{axesSpec, epsSpec},
			infer: inferLayerNormGrad, decompose: decomposeLayerNormGrad},
		GroupNorm: {name: "group_norm", operands: 3, optional: 2, out: 1, attrs: []attrSpec{groupSpec, epsSpec},
			infer: inferGroupNorm, grad: gradGroupNorm, decompose: decomposeGroupNorm},
		GroupNormGrad: {name: "group_norm_grad", operands: 2, out: 1, attrs: []attrSpec{groupSpec, epsSpec},
			infer: inferGroupNormGrad, decompose: decomposeGroupNormGrad},
		Erf: {name: "erf", operands: 1, out: 1, infer: inferActivation, grad: gradActivation},
		Gelu: {name: "gelu", operands: 1, out: 1, attrs: halveSpec, infer: inferActivation, grad: gradActivation,
			decompose: decomposeGelu},
		GeluTanh: {name: "gelu_tanh", operands: 1, out: 1, attrs: halveSpec, infer: inferActivation,
			grad: gradActivation, decompose: decomposeGeluTanh},
		Mish: {name: "mish", operands: 1, out: 1, infer: inferActivation, grad: gradActivation,
			decompose: decomposeMish},

		Quantize: {name: "quantize", operands: 1, out: 1, attrs: []attrSpec{{"scale", 0.0, true}, zeroSpec},
			infer: inferQuantize, straight: straightQuantize},
		Dequantize: {name: "dequantize", operands: 1, out: 1, attrs: []attrSpec{{"scale", 0.0, true}, zeroSpec},
			infer: inferDequantize, straight: straightDequantize},
		ConvInt8: {name: "conv_int8", operands: 4, out: 1, attrs: specs(convSpec, sumSpec...), infer: inferConvInt8,
			straight: straightConvInt8},
		DenseInt8: {name: "dense_int8", operands: 4, out: 1, attrs: sumSpec, infer: inferDenseInt8,
			straight: straightDenseInt8},
		AddInt8: {name: "add_int8", operands: 2, out: 1,
			attrs: specs(pairSpec, attrSpec{"a_by", 0.0, true}, attrSpec{"b_by", 0.0, true}), infer: inferAddInt8,
			straight: straightAddInt8},
		MulInt8: {name: "mul_int8", operands: 2, out: 1, attrs: specs(pairSpec, attrSpec{"by", 0.0, true}),
			infer: inferMulInt8, straight: straightMulInt8},
		AvgPoolInt8: {name: "avg_pool_int8", operands: 1, out: 1, attrs: specs(poolSpec,
			attrSpec{"count_pad", false, false}, attrSpec{"by", 0.0, true}, xZeroSpec, zeroSpec),
			infer: inferAvgPoolInt8, straight: straightAvgPoolInt8},
		MaxPoolInt8: {name: "max_pool_int8", operands: 1, out: 1, attrs: poolSpec, infer: inferMaxPoolInt8,
			straight: straightMaxPoolInt8},
		TableInt8: {name: "table_int8", operands: 2, out: 1, infer: inferTableInt8, straight: straightTableInt8},
		ConcatInt8: {name: "concat_int8", operands: 1, variadic: true, out: 1, attrs: []attrSpec{axisSpec},
			infer: inferConcatInt8, straight: gradConcat},
		PadInt8: {name: "pad_int8", operands: 1, out: 1, attrs: []attrSpec{{"before", []int64(nil), true},
			{"after", []int64(nil), true}, zeroSpec}, infer: inferPadInt8, straight: gradPad},
		QuantizeWeight: {name: "quantize_weight", operands: 2, out: 4,
			attrs: []attrSpec{{"x_scale", 0.0, true}, {"scale", 0.0, true}}, infer: inferQuantizeWeight},
	}
	opNamed = make(map[string]Op, len(table))
	for op, row := range table {
		opNamed[row.name] = op
	}
}

func (o Op) row() *opRow {
	r := table[o]
	if r == nil {
		panic(fmt.Sprintf("graph: operation %d is not in the table", uint16(o)))
	}
	return r
}

// Valid reports whether o is an operation.
func (o Op) Valid() bool { return table[o] != nil }

// String returns the operation's name in the text form.
func (o Op) String() string {
	if r := table[o]; r != nil {
		return r.name
	}
	return fmt.Sprintf("op(%d)", uint16(o))
}

// Host reports whether only the host evaluates o: no device runs it.
func (o Op) Host() bool { return o.row().host }

// Differentiable reports whether Gradient has a rule for o.
func (o Op) Differentiable() bool { return o.row().grad != nil }

// Ops returns all operations in the order of their numbers.
func Ops() []Op { return slices.Sorted(maps.Keys(table)) }
