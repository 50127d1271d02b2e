//go:build !purego

package kernel

var activationsNEON = activations{
	lanes: 4,
	functions: [functions]unaryKernel{
		Exp:         expNEON,
		Log:         logNEON,
		Sigmoid:     sigmoidNEON,
		Tanh:        tanhNEON,
		Silu:        siluNEON,
		Softplus:    softplusNEON,
		Elu:         eluNEON,
		LeakyRelu:   leakyReluNEON,
		HardSigmoid: hardSigmoidNEON,
		HardSwish:   hardSwishNEON,
		Clip:        clipNEON,
		AffineOf:    affineNEON,
		Erf:         erfNEON,
		Gelu:        geluNEON,
		GeluTanh:    geluTanhNEON,
		Mish:        mishNEON,
		Over:        overNEON,
	},
	gradients: [functions]binaryKernel{
		Sigmoid:     sigmoidGradientNEON,
		Tanh:        tanhGradientNEON,
		Silu:        siluGradientNEON,
		Softplus:    softplusGradientNEON,
		Elu:         eluGradientNEON,
		LeakyRelu:   leakyReluGradientNEON,
		HardSigmoid: hardSigmoidGradientNEON,
		HardSwish:   hardSwishGradientNEON,
		Clip:        clipGradientNEON,
		Erf:         erfGradientNEON,
		Gelu:        geluGradientNEON,
		GeluTanh:    geluTanhGradientNEON,
		Mish:        mishGradientNEON,
	},
	binaries:      [operations]binaryKernel{Sub: subNEON, Mul: mulNEON, Div: divNEON, Prelu: preluNEON},
	preluGradient: preluGradientNEON,
}
