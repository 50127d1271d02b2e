package graph

// Op is an operation. The numbers are part of the protocol: they never change
// meaning, and new operations go at the end of their block.
type Op uint16

// These are the operations. In their signatures r, p and w mean the kinds rows, replica and whole; ?
// marks an operand that may be absent. Shapes exclude the leading axis of rows and replica values.
// Conv attributes are stride [sh,sw], pad [top,left,bottom,right], dilation [dh,dw] and groups; pool
// attributes are kernel [kh,kw], stride and pad. Types are f32 unless stated otherwise.
//
// A moments value m is f64[1+2C]: the count n, then the means of the C channels, then their
// sums Q of squared deviations. A negative n marks constant statistics: the variance is
// Q/|n|, and no gradient flows through mean and variance.
const (
	// Input.

	// Image(x r u8[H,W,C]) r[C,H,W]: y[c,h,w] = f32((f64(x)*scale - mean[c]) / std[c]).
	// With bgr, channel c of y is read from channel C-1-c of x.
	Image Op = 1

	// Products.

	// Conv(x r[C,H,W], weight w[O,C/groups,kh,kw], bias? w[O]) r[O,H',W'],
	// H' = (H + top + bottom - dh*(kh-1) - 1)/sh + 1. Cross-correlation.
	Conv Op = 10
	// ConvGradInput(dy r[O,H',W'], weight) r[C,H,W], with size [H,W].
	ConvGradInput Op = 11
	// ConvGradWeight(x r[C,H,W], dy r[O,H',W']) p[O,C/groups,kh,kw], with kernel [kh,kw].
	ConvGradWeight Op = 12
	// ConvTranspose(x r[C,H,W], weight w[C,O/groups,kh,kw], bias? w[O]) r[O,H',W'],
	// H' = (H-1)*sh - top - bottom + dh*(kh-1) + output_pad[0] + 1.
	ConvTranspose Op = 13
	// Dense(x r[...,K], weight w[O,K], bias? w[O]) r[...,O]: the last axis times the
	// weight, at every position of the axes before it. The attribute leading counts these
	// axes.
	Dense Op = 14
	// DenseGradInput(dy r[...,O], weight w[O,K]) r[...,K].
	DenseGradInput Op = 15
	// DenseGradWeight(x r[...,K], dy r[...,O]) p[O,K].
	DenseGradWeight Op = 16
	// MatMul(a [...,M,K], b [...,K,N]) [...,M,N]: products of matrices. With transpose_a, a
	// holds [K,M]; with transpose_b, b holds [N,K]. Axes before the last two broadcast as
	// in NumPy. Either operand may be rows or whole.
	MatMul Op = 17

	// Batch norm.

	// Moments(x r[C,...]) p f64[1+2C]; n counts rows times trailing elements.
	Moments Op = 30
	// RunningMoments(mean w[C], variance w[C]) w f64[1+2C] = (-1, mean, variance).
	RunningMoments Op = 31
	// SelectMoments(m p f64[1+2C], running w f64[1+2C]) p f64[1+2C]: for each replica, m if its n is at
	// least min, else running.
	SelectMoments Op = 32
	// Normalise(x r[C,...], m f64[1+2C], gamma w[C], beta w[C]) r[C,...]:
	// y = gamma*(x-mean)/sqrt(Q/|n| + eps) + beta. m is whole if over is
	// "batch", replica if over is "replica".
	Normalise Op = 33
	// NormaliseGradSums(x r[C,...], dy r[C,...], m f64[1+2C]) p f64[2C]:
	// S1 = sum dy, then S2 = sum dy*(x-mean). over as for Normalise.
	NormaliseGradSums Op = 34
	// NormaliseGradInput(x, dy, m f64[1+2C], sums f64[2C], gamma w[C]) r[C,...]:
	// dx = gamma*s*(dy - S1/n - (x-mean)*s*s*S2/n), s = 1/sqrt(Q/|n| + eps);
	// gamma*s*dy where n < 0. over as for Normalise; sums has the kind of m.
	NormaliseGradInput Op = 35
	// NormaliseGradParams(m f64[1+2C], sums f64[2C]) (dgamma [C], dbeta [C])
	// = (s*S2, S1), of the kind of sums.
	NormaliseGradParams Op = 36
	// BatchNorm(x r[C,...], gamma w[C], beta w[C], mean w[C], variance w[C]) r[C,...]: y =
	// gamma*(x-mean)/sqrt(variance + eps) + beta. The operation of templates. decay,
	// cumulative and variance ("unbiased" or "biased") define how training updates mean and
	// variance (package bn); they do not affect the result y.
	BatchNorm Op = 37

	// Replica connections. Split, Gather and Track are done by the host
	// (package parallel); devices never see them.

	// AllReduce(x p[...]) w[...]: the sum over all replicas along the canonical
	// tree, or the exact merge of moments (Chan) if the attribute "of" is
	// "moments".
	AllReduce Op = 40
	// Split(x r[...]) r[...] marks where the global batch is divided into replicas.
	Split Op = 41
	// Gather(x r[...]) r[...] marks where the rows of all replicas are concatenated.
	Gather Op = 42
	// Track(m f64[1+2C], mean w[C], variance w[C]): the host updates the
	// running statistics from m. decay, cumulative, variance as BatchNorm.
	Track Op = 43

	// Activations, elementwise.

	Relu        Op = 50 // max(x, 0); NaN stays NaN
	Relu6       Op = 51 // min(max(x, 0), 6)
	LeakyRelu   Op = 52 // x if x >= 0, else alpha*x
	Elu         Op = 53 // x if x > 0, else alpha*(exp(x)-1)
	Sigmoid     Op = 54 // 1/(1+exp(-x))
	HardSigmoid Op = 55 // min(max(alpha*x + beta, 0), 1)
	Silu        Op = 56 // x*sigmoid(x)
	HardSwish   Op = 57 // x*min(max(x+3, 0), 6)/6
	Tanh        Op = 58
	Softplus    Op = 59 // log(1+exp(x))
	// Prelu(x r[C,...], slope w[C]) r[C,...]: x if x >= 0, else slope[c]*x.
	Prelu Op = 60
	// ActivationGrad(saved, dy) dx: the derivative of the activation that the
	// attribute "of" names, times dy. saved is the activation's result for
	// relu, relu6, sigmoid and tanh, its operand for all others. At a kink: 0
	// for relu at 0 and for relu6 at 0 and 6, the right-hand side elsewhere.
	ActivationGrad Op = 61
	// PreluGradInput(x, slope, dy) dx.
	PreluGradInput Op = 62
	// PreluGradSlope(x r[C,...], dy) p[C].
	PreluGradSlope Op = 63
	// Softmax(x) and LogSoftmax(x) along axis (of the shape, without rows).
	Softmax    Op = 64
	LogSoftmax Op = 65
	// SoftmaxGrad(y, dy) dx = y*(dy - sum(dy*y)) along axis.
	SoftmaxGrad Op = 66
	// LogSoftmaxGrad(y, dy) dx = dy - exp(y)*sum(dy) along axis.
	LogSoftmaxGrad Op = 67

	// Pooling over H and W of r[C,H,W]; H' = (H + top + bottom - kh)/sh + 1.

	// MaxPool ignores padding. Every window must hold a real element.
	MaxPool Op = 70
	// MaxPoolGrad(x, dy) dx: dy goes to the first maximum in row-major order.
	MaxPoolGrad Op = 71
	// AvgPool divides by the real elements of a window, or by kh*kw with count_pad.
	AvgPool Op = 72
	// AvgPoolGrad(dy) dx, with size [H,W] and count_pad.
	AvgPoolGrad Op = 73
	// GlobalAvgPool(x r[C,H,W]) r[C,1,1]; summed in f64.
	GlobalAvgPool Op = 74
	// GlobalAvgPoolGrad(dy r[C,1,1]) r[C,H,W], with size [H,W].
	GlobalAvgPoolGrad Op = 75

	// Elementwise arithmetic. Operands of two-operand operations broadcast as
	// in NumPy over their shapes (aligned at the last axis), and whole and
	// replica operands broadcast over rows. f32 and f64.

	Add  Op = 80
	Sub  Op = 81
	Mul  Op = 82
	Div  Op = 83
	Exp  Op = 84
	Log  Op = 85
	Sqrt Op = 86
	// Affine(x) = by*x + add, two rounded operations, or by*x alone if add is 0; by and add are
	// rounded to the type of x first.
	Affine Op = 87
	// Clip(x) = min(max(x, min), max).
	Clip Op = 88
	// ReduceSum(x) and ReduceMean(x) over axes (of the shape), which become 1 with keep and are
	// removed otherwise.
	ReduceSum  Op = 89
	ReduceMean Op = 90
	// BroadcastTo(x) to shape, as NumPy does.
	BroadcastTo Op = 91
	// SumRows(x r[...]) p[...]: the sum over the rows of each replica.
	SumRows Op = 92
	// ChannelSum(x r[C,...]) p[C]: the sum over rows and trailing axes; a bias gradient.
	ChannelSum Op = 93

	// Structure. Axes count in the shape, without rows.

	// Concat(x...) along axis.
	Concat Op = 100
	// Slice(x): elements begin, begin+step, ... below end on every axis.
	Slice Op = 101
	// SliceGrad(dy) dx: dy scattered into zeros of shape size, attributes as Slice.
	SliceGrad Op = 102
	// Pad(x): before and after elements of value on every axis.
	Pad Op = 103
	// Reshape(x) to shape.
	Reshape Op = 104
	// Transpose(x): axis i of the result is axis perm[i] of x.
	Transpose Op = 105
	// Upsample(x r[C,H,W]) r[C,H',W'] to size [H',W'], mode "nearest"
	// (source = floor(i*H/H')) or "bilinear" (half-pixel centres, edges
	// clamped; align_corners: corner pixels map to each other).
	Upsample Op = 106
	// UpsampleGrad(dy r[C,H',W']) r[C,H,W], with from [H,W], mode and align_corners.
	UpsampleGrad Op = 107
	// Dropout(x, ident r i64[2]) = x/f32(1-p) where an element is kept, else 0. Element e of a row is
	// kept if number e of the tensor.Draws of its sample (ident = epoch and sample; generator of seed
	// and StreamDropout + stream), as Float32, is at least p. The same operation on dy is its gradient.
	// In a template it has only the operand x and marks the place. No device runs that form: eval and
	// predict leave it out. In that form the attribute each is "sample" if whole samples are dropped
	// (stochastic depth). Training then gives a device the dropout of a 1, and a Mul with its result.
	Dropout Op = 108
	// Take(x): element i of the result is element index[i] of x, along axis.
	Take Op = 109
	// TakeGrad(dy) dx of shape size: element j along axis is the sum of all elements i of dy with
	// index[i] = j, in the order of i, in f64 from 0; attributes as Take.
	TakeGrad Op = 110

	// Loss and metrics.

	// SoftmaxXent(logits r[C,...], labels r i32[...], weight? r[]) p f64[1]: the sum of
	// cross-entropies in f64, with label smoothing; labels equal to ignore count 0. With
	// weights, one for each class, a row counts with the weight of its label. With
	// weighted_targets, which requires smoothing, each class counts with its weight times
	// its target.
	SoftmaxXent Op = 120
	// SoftmaxXentGrad(logits, labels, inverse w[], weight? r[]) r[C,...]: (softmax -
	// target)*weight*inverse, where inverse is 1/denominator. With weights, weight is multiplied by the
	// label's weight, in f64; with weighted_targets the result is (softmax*W -
	// weights*target)*weight*inverse, where W is the sum of weights*target over the classes.
	SoftmaxXentGrad Op = 121
	// Correct(logits r[C,...], labels r i32[...]) p f64[2]: for how many labels
	// that are not ignored the (first) maximum of the logits is the label, and
	// the number of labels that are not ignored.
	Correct Op = 122

	// Updates: whole values, exact sequences of correctly rounded f32
	// operations in the order written; constants, such as 1-beta1, are computed
	// in f64 and rounded to f32 first.

	// SGD(w, g, v, lr w[]) (w', v'): d = g + weight_decay*w (d = g if 0);
	// v' = momentum*v + d; u = v', or d + momentum*v' with nesterov; w' = w - lr*u.
	SGD Op = 140
	// AdamW(w, g, m, v, lr w[], step w[], root w[]) (w', m', v'):
	// m' = m + (1-beta1)*(g-m); v' = beta2*v + (1-beta2)*(g*g);
	// w' = (w - lr*weight_decay*w) - step*(m'/(sqrt(v')*root + eps)), where
	// step = lr/(1-beta1^t) and root = 1/sqrt(1-beta2^t).
	AdamW Op = 141
	// LARS(w, g, v, lr w[], ratio w[]) (w', v'): v' = momentum*v + (lr*ratio)*(g + weight_decay*w); w' = w - v'.
	LARS Op = 142
	// EMA(average, w) average' = average + (1-decay)*(w - average).
	EMA Op = 143
	// SumSquares(x w[...]) w f64[]: every block of 1024 elements has eight
	// partial sums of f64(x)*f64(x), element i in partial sum i mod 8, in order;
	// then ((0+1)+(2+3))+((4+5)+(6+7)); the blocks along the canonical tree.
	SumSquares Op = 144
	// TrustRatio(weight f64[], gradient f64[]) w f32[]: with norms a and b
	// (roots of the operands) f32(eta*a/(b + weight_decay*a + eps)), 1 if a or b is 0.
	TrustRatio Op = 145
	// ClipFactor(sum f64[]) w f32[]: f32(min(1, max/(sqrt(sum) + 1e-6))).
	ClipFactor Op = 146

	// Comparisons, extremes and powers. Operands broadcast like those of Add. f32 and f64.
	// A comparison returns 1 or 0. Every number except 0 is true, and so is NaN.

	// Max(x, y) and Min(x, y): NaN if one operand is NaN; +0 is above -0.
	Max Op = 160
	Min Op = 161
	// Pow(x, y) = x to the power of y, in f64 (tensor.Pow), rounded.
	Pow Op = 162
	// Compare(x, y?): 1 if x and y have the relation of the attribute "of", which is
	// "equal", "not_equal", "greater", "greater_equal", "less" or "less_equal"; else 0. y
	// is 0 if it is absent. With NaN, only not_equal is 1.
	Compare Op = 163
	// Where(condition, x, y?): x where the condition is not 0, and y elsewhere, or +0 if y is absent.
	Where Op = 164
	// Round(x) to an integer. mode is "even" (to the nearest, halves to the even one),
	// "floor" or "ceil". The sign of x stays, also for zero.
	Round Op = 165
	// ReduceMax(x) and ReduceMin(x): the largest and the least over axes, as ReduceSum; NaN if one element is
	// NaN.
	ReduceMax Op = 166
	ReduceMin Op = 167
	// ReduceProd(x): the product over axes, as ReduceSum, in f64, in logical order.
	ReduceProd Op = 168

	// More activations, of f32.

	Erf Op = 180 // the error function
	// Gelu(x) = 0.5*x*(1 + erf(x/sqrt(2))): the half of x comes first, as in ONNX's definition, or with
	// halve_last the half of the product, as PyTorch exports it.
	Gelu Op = 181
	// GeluTanh(x) = 0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x^3))), with halve_last as for Gelu.
	GeluTanh Op = 182
	Mish     Op = 183 // x*tanh(softplus(x))

	// Norms of single rows, which keep no statistics. s = 1/sqrt(variance + eps). Absent
	// operands have no effect.

	// LayerNorm(x r[...], scale? w[S], bias? w[S]) r[...]: y = scale*((x-mean)*s) + bias with
	// the moments of a line. A line has the elements along axes, which are neighbouring axes with the
	// lengths S.
	LayerNorm Op = 190
	// LayerNormGrad(x r[...], dy r[...]) dx = s*(dy - S1/n - (x-mean)*s*s*S2/n) with S1 =
	// sum dy and S2 = sum dy*(x-mean) over the line of n elements; dy is the gradient of
	// (x-mean)*s.
	LayerNormGrad Op = 191
	// GroupNorm(x r[C,...], scale? w[C], bias? w[C]) r[C,...]: y = scale*(x-mean)*s + bias with the
	// moments of a group of C/groups channels. With groups equal to C it is the instance norm.
	GroupNorm Op = 192
	// GroupNormGrad(x r[C,...], dy r[C,...]) dx as LayerNormGrad, over the group.
	GroupNormGrad Op = 193

	// Arithmetic of int8: sums are exact, and only these few operations
	// round (docs/int8.md). Attributes that are factors are rounded to f32 first; f32
	// products and sums are rounded one by one. round rounds halves to the even number, and
	// to(v) is min(max(round(v) + zero, min), max).

	// Quantize(x r[...]) r u8[...]: q = to(x/scale) with bounds 0 and 255; NaN becomes the attribute
	// zero.
	Quantize Op = 200
	// Dequantize(q r u8[...]) r[...] = scale*(q - zero).
	Dequantize Op = 201
	// ConvInt8(x r u8[C,H,W], weight w i8[O,C/groups,kh,kw], bias w i32[O], by w[O]) r u8[O,H',W']:
	// to(f32(sum)*by[o]), where sum is bias[o] and all products weight*(x - x_zero), exact;
	// padding adds nothing. With float it is f32(sum)*by[o], and r[O,H',W'].
	ConvInt8 Op = 202
	// DenseInt8(x r u8[K], weight w i8[O,K], bias w i32[O], by w[O]) r u8[O], computed as ConvInt8.
	DenseInt8 Op = 203
	// AddInt8(a, b r u8[...]) r u8[...]: to(f32(a - a_zero)*a_by + f32(b - b_zero)*b_by). With joint the
	// zero of the result is rounded with the sum, and products are fused with additions (docs/int8.md).
	AddInt8 Op = 204
	// MulInt8(a r u8[C,...], b r u8[C,...]) r u8[C,...]: to(f32((a - a_zero)*(b -
	// b_zero))*by). b has the shape of a, or 1 on all axes after the first.
	MulInt8 Op = 205
	// AvgPoolInt8(x r u8[C,H,W]) r u8[C,H',W']: to(f32(sum)*f32(by/n)). sum adds x - x_zero
	// over the real elements of a window, by/n is f64, and n is the divisor of AvgPool. The
	// bounds are 0 and 255.
	AvgPoolInt8 Op = 206
	// MaxPoolInt8(x r u8[C,H,W]) r u8[C,H',W'] as MaxPool.
	MaxPoolInt8 Op = 207
	// TableInt8(x r u8[...], table w u8[256]) r u8[...] = table[x].
	TableInt8 Op = 208
	// ConcatInt8(x r u8[...]...) r u8[...] along axis.
	ConcatInt8 Op = 209
	// PadInt8(x r u8[...]) r u8[...]: before and after bytes of zero on every axis.
	PadInt8 Op = 210
	// QuantizeWeight(w w[O,...], bias w[O]) (q w i8[O,...], b w i32[O], by w[O], back w[O,...]):
	// operands of an int8 product from the weights that are trained. In f64, with step =
	// f32(max(|w|/127 of the channel's largest, |bias|/(x_scale*2^28), 2^-60)), which is infinite
	// if a weight or the bias of the channel is not finite: q = round(w/step) within 127, b =
	// round(bias/(x_scale*step)) within 2^30, NaN becomes 0, by = f32(x_scale*step/scale), and
	// back = f32(q)*by, in f32, or by if that is infinite. Gradients pass straight through rounding
	// (grad_int8.go).
	QuantizeWeight Op = 211

	// Detect(x r[R,A], limits r[2], anchors? w[A,4]) r[6*(1+most)]: the boxes of a detector's
	// predictions x in BoxForm form for A slots, decoded with their anchors, except boxes that overlap a
	// better box of their class. A candidate is a class of a slot with a score above limits[0]. A group
	// is the slots from one element of the attribute starts to the next, or, without starts, a class. In
	// each group the best candidates compete: their number is the attribute before, or all compete if it
	// is 0. A candidate is removed if its overlap with a better box of its class is more than limits[1].
	// The result has rows of 6: first the number of boxes, then corners, score and class of the best
	// most boxes, the highest score first; of equal scores the lower slot first, then the lower class.
	// All other elements are +0. If an element of x is infinite or NaN, the number is NaN and there are
	// no boxes. Boxes and scores are computed in f64 and rounded once, overlaps in f32: package
	// device/detection. In forms other than YOLOX's and corners, boxes are clipped to the height and
	// width size.
	Detect Op = 220
)
