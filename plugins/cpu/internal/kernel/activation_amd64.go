//go:build !purego

package kernel

var (
	activationsAVX512 = activations{
		lanes: 16,
		functions: [functions]unaryKernel{
			Exp:         expAVX512,
			Log:         logAVX512,
			Sigmoid:     sigmoidAVX512,
			Tanh:        tanhAVX512,
			Silu:        siluAVX512,
			Softplus:    softplusAVX512,
			Elu:         eluAVX512,
			LeakyRelu:   leakyReluAVX512,
			HardSigmoid: hardSigmoidAVX512,
			HardSwish:   hardSwishAVX512,
			Clip:        clipAVX512,
			AffineOf:    affineAVX512,
			Over:        overAVX512,
		},
		gradients: [functions]binaryKernel{
			Sigmoid:     sigmoidGradientAVX512,
			Tanh:        tanhGradientAVX512,
			Silu:        siluGradientAVX512,
			Softplus:    softplusGradientAVX512,
			Elu:         eluGradientAVX512,
			LeakyRelu:   leakyReluGradientAVX512,
			HardSigmoid: hardSigmoidGradientAVX512,
			HardSwish:   hardSwishGradientAVX512,
			Clip:        clipGradientAVX512,
		},
		binaries: [operations]binaryKernel{Sub: subAVX512, Mul: mulAVX512, Div: divAVX512},
	}
	activationsAVX2 = activations{
		lanes: 8,
		functions: [functions]unaryKernel{
			Exp:         expAVX2,
			Log:         logAVX2,
			Sigmoid:     sigmoidAVX2,
			Tanh:        tanhAVX2,
			Silu:        siluAVX2,
			Softplus:    softplusAVX2,
			Elu:         eluAVX2,
			LeakyRelu:   leakyReluAVX2,
			HardSigmoid: hardSigmoidAVX2,
			HardSwish:   hardSwishAVX2,
			Clip:        clipAVX2,
			AffineOf:    affineAVX2,
			Over:        overAVX2,
		},
		gradients: [functions]binaryKernel{
			Sigmoid:     sigmoidGradientAVX2,
			Tanh:        tanhGradientAVX2,
			Silu:        siluGradientAVX2,
			Softplus:    softplusGradientAVX2,
			Elu:         eluGradientAVX2,
			LeakyRelu:   leakyReluGradientAVX2,
			HardSigmoid: hardSigmoidGradientAVX2,
			HardSwish:   hardSwishGradientAVX2,
			Clip:        clipGradientAVX2,
		},
		binaries: [operations]binaryKernel{Sub: subAVX2, Mul: mulAVX2, Div: divAVX2},
	}
)
