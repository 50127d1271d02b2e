//go:build !purego

package kernel

var (
	elementsAVX512 = elements{
		16, reluAVX512, reluGradientAVX512, relu6AVX512, relu6GradientAVX512, addAVX512,
		[2][2]sgdStep{{sgdAVX512, sgdNesterovAVX512}, {sgdDecayAVX512, sgdDecayNesterovAVX512}},
	}
	elementsAVX2 = elements{
		8, reluAVX2, reluGradientAVX2, relu6AVX2, relu6GradientAVX2, addAVX2,
		[2][2]sgdStep{{sgdAVX2, sgdNesterovAVX2}, {sgdDecayAVX2, sgdDecayNesterovAVX2}},
	}
)
