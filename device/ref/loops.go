package ref

import "github.com/bnctl/bnctl/graph"

// loops has the loop of every operation except AllReduce, which also needs the
// group.
var loops = map[graph.Op]func(*call){
	graph.Image: image,

	graph.Conv: conv, graph.ConvGradInput: convGradInput, graph.ConvGradWeight: convGradWeight,
	graph.ConvTranspose: convTranspose,
	graph.Dense:         dense, graph.DenseGradInput: denseGradInput, graph.DenseGradWeight: denseGradWeight,
	graph.MatMul: matMul,

	graph.Moments: moments, graph.RunningMoments: runningMoments, graph.SelectMoments: selectMoments,
	graph.Normalise: normalise, graph.NormaliseGradSums: normaliseGradSums,
	graph.NormaliseGradInput: normaliseGradInput, graph.NormaliseGradParams: normaliseGradParams,
	graph.BatchNorm: batchNorm,
	graph.LayerNorm: layerNorm, graph.LayerNormGrad: layerNormGrad,
	graph.GroupNorm: groupNorm, graph.GroupNormGrad: groupNormGrad,

	graph.Relu: activation, graph.Relu6: activation, graph.LeakyRelu: activation, graph.Elu: activation,
	graph.Sigmoid: activation, graph.HardSigmoid: activation, graph.Silu: activation,
	graph.HardSwish: activation, graph.Tanh: activation, graph.Softplus: activation, graph.Clip: activation,
	graph.Erf: activation, graph.Gelu: activation, graph.GeluTanh: activation, graph.Mish: activation,
	graph.ActivationGrad: activationGrad,
	graph.Prelu:          prelu, graph.PreluGradInput: preluGradInput, graph.PreluGradSlope: preluGradSlope,
	graph.Softmax: softmax, graph.LogSoftmax: logSoftmax,
	graph.SoftmaxGrad: softmaxGrad, graph.LogSoftmaxGrad: logSoftmaxGrad,

	graph.MaxPool: maxPool, graph.MaxPoolGrad: maxPoolGrad,
	graph.AvgPool: avgPool, graph.AvgPoolGrad: avgPoolGrad,
	graph.GlobalAvgPool: globalAvgPool, graph.GlobalAvgPoolGrad: globalAvgPoolGrad,

	graph.Add: binary, graph.Sub: binary, graph.Mul: binary, graph.Div: binary,
	graph.Exp: unary, graph.Log: unary, graph.Sqrt: unary, graph.Affine: affine,
	graph.Max: binary, graph.Min: binary, graph.Pow: binary, graph.Compare: compare, graph.Where: where,
	graph.Round: round, graph.ReduceMax: reduce, graph.ReduceMin: reduce, graph.ReduceProd: reduce,
	graph.ReduceSum: reduce, graph.ReduceMean: reduce, graph.BroadcastTo: broadcastTo,
	graph.SumRows: sumRows, graph.ChannelSum: channelSum,

	graph.Concat: concat, graph.Slice: slice, graph.SliceGrad: sliceGrad, graph.Pad: pad,
	graph.Reshape: reshape, graph.Transpose: transpose, graph.Take: take, graph.TakeGrad: takeGrad,
	graph.Upsample: upsample, graph.UpsampleGrad: upsampleGrad, graph.Dropout: dropout,

	graph.Detect: detect,

	graph.SoftmaxXent: softmaxXent, graph.SoftmaxXentGrad: softmaxXentGrad, graph.Correct: correct,

	graph.Quantize: quantize, graph.Dequantize: dequantize,
	graph.ConvInt8: convInt8, graph.DenseInt8: denseInt8, graph.AddInt8: addInt8, graph.MulInt8: mulInt8,
	graph.AvgPoolInt8: avgPoolInt8, graph.MaxPoolInt8: maxPoolInt8, graph.TableInt8: tableInt8,
	graph.ConcatInt8: concatInt8, graph.PadInt8: padInt8, graph.QuantizeWeight: quantizeWeight,

	graph.SGD: sgd, graph.AdamW: adamW, graph.LARS: lars, graph.EMA: ema,
	graph.SumSquares: sumSquares, graph.TrustRatio: trustRatio, graph.ClipFactor: clipFactor,
}
