//go:build !purego

package kernel

var (
	winogradGradientsAVX512 = winogradGradients{
		tiles2x3: {winogradGradientAVX512f2x3, winogradTapsAVX512f2x3},
		tiles4x3: {winogradGradientAVX512f4x3, winogradTapsAVX512f4x3},
		tiles2x5: {winogradGradientAVX512f2x5, winogradTapsAVX512f2x5},
	}
	winogradGradientsAVX2 = winogradGradients{
		tiles2x3: {winogradGradientAVX2f2x3, winogradTapsAVX2f2x3},
		tiles4x3: {winogradGradientAVX2f4x3, winogradTapsAVX2f4x3},
		tiles2x5: {winogradGradientAVX2f2x5, winogradTapsAVX2f2x5},
	}
)
