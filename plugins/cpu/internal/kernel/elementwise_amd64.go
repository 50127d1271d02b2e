//go:build !purego

package kernel

var (
	elementsAVX512 = elements{
		16, reluAVX512, reluGradientAVX512, relu6AVX512, relu6GradientAVX512, addAVX512, hardSwishAVX2,
	}
	elementsAVX2 = elements{
		8, reluAVX2, reluGradientAVX2, relu6AVX2, relu6GradientAVX2, addAVX2, hardSwishAVX2,
	}
)
