//go:build !purego

package kernel

var (
	winogradGradientsAVX512 = winogradGradients{
		2: {winogradGradientAVX512f2, winogradTapsAVX512f2}, 4: {winogradGradientAVX512f4, winogradTapsAVX512f4},
	}
	winogradGradientsAVX2 = winogradGradients{
		2: {winogradGradientAVX2f2, winogradTapsAVX2f2}, 4: {winogradGradientAVX2f4, winogradTapsAVX2f4},
	}
)
