//go:build !purego

package kernel

import "github.com/bnctl/bnctl/device/class"

// 14 tiles by two vectors of channels, two vectors of weights and two broadcast values fill
// the registers of AVX-512. 3 tiles by four vectors of channels, one vector of weights and
// three broadcast values fill the registers of AVX2.
var (
	winogradAVX512 = winogradKernels{
		forms: map[class.Tiles]winogradForm{
			tiles2x3: {winogradInputAVX512t4, winogradOutputAVX512f2x3, winogradWeightsAVX512f2x3},
			tiles4x3: {winogradInputAVX512t6, winogradOutputAVX512f4x3, winogradWeightsAVX512f4x3},
			tiles2x5: {winogradInputAVX512t6, winogradOutputAVX512f2x5, winogradWeightsAVX512f2x5},
		},
		products: []winogradProducts{{2 * Lanes, []winogradProduct{winogradProductAVX512x2p1,
			winogradProductAVX512x2p2, winogradProductAVX512x2p3, winogradProductAVX512x2p4,
			winogradProductAVX512x2p5, winogradProductAVX512x2p6, winogradProductAVX512x2p7, winogradProductAVX512x2p8,
			winogradProductAVX512x2p9, winogradProductAVX512x2p10, winogradProductAVX512x2p11,
			winogradProductAVX512x2p12,
			winogradProductAVX512x2p13, winogradProductAVX512x2p14}},
			{Lanes, []winogradProduct{winogradProductAVX512x1p1, winogradProductAVX512x1p2, winogradProductAVX512x1p3,
				winogradProductAVX512x1p4, winogradProductAVX512x1p5, winogradProductAVX512x1p6,
				winogradProductAVX512x1p7, winogradProductAVX512x1p8, winogradProductAVX512x1p9,
				winogradProductAVX512x1p10, winogradProductAVX512x1p11, winogradProductAVX512x1p12,
				winogradProductAVX512x1p13, winogradProductAVX512x1p14}}},
		spread:    winogradSpreadAVX512,
		maxAtOnce: 64,
	}
	winogradAVX2 = winogradKernels{
		forms: map[class.Tiles]winogradForm{
			tiles2x3: {winogradInputAVX2t4, winogradOutputAVX2f2x3, winogradWeightsAVX2f2x3},
			tiles4x3: {winogradInputAVX2t6, winogradOutputAVX2f4x3, winogradWeightsAVX2f4x3},
			tiles2x5: {winogradInputAVX2t6, winogradOutputAVX2f2x5, winogradWeightsAVX2f2x5},
		},
		products: []winogradProducts{{2 * Lanes, []winogradProduct{winogradProductAVX2x2p1,
			winogradProductAVX2x2p2, winogradProductAVX2x2p3}},
			{Lanes, []winogradProduct{winogradProductAVX2x1p1, winogradProductAVX2x1p2, winogradProductAVX2x1p3,
				winogradProductAVX2x1p4, winogradProductAVX2x1p5, winogradProductAVX2x1p6}}},
		spread:    winogradSpreadAVX2,
		maxAtOnce: 32,
	}
)
