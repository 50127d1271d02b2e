//go:build !purego

package kernel

// Columns of many channels share the addresses that a tap needs.
var (
	depthwiseAVX512 = []depthwiseTiles{
		{64, 4, depthwiseAVX512x4p4, depthwiseAVX512x4p1},
		{32, 4, depthwiseAVX512x2p4, depthwiseAVX512x2p1},
		{16, 4, depthwiseAVX512x1p4, depthwiseAVX512x1p1},
		{8, 2, depthwiseAVX2x1p2, depthwiseAVX2x1p1},
	}
	depthwiseAVX2 = []depthwiseTiles{
		{32, 2, depthwiseAVX2x4p2, depthwiseAVX2x4p1},
		{16, 2, depthwiseAVX2x2p2, depthwiseAVX2x2p1},
		{8, 2, depthwiseAVX2x1p2, depthwiseAVX2x1p1},
	}
	depthwiseGradientsAVX512 = append([]depthwiseGradients{
		{64, []depthwiseGradient{{5, depthwiseGradientAVX512x4t5}, {3, depthwiseGradientAVX512x4t3},
			{1, depthwiseGradientAVX512x4t1}}},
		{32, []depthwiseGradient{{5, depthwiseGradientAVX512x2t5}, {3, depthwiseGradientAVX512x2t3},
			{1, depthwiseGradientAVX512x2t1}}},
		{16, []depthwiseGradient{{5, depthwiseGradientAVX512x1t5}, {3, depthwiseGradientAVX512x1t3},
			{1, depthwiseGradientAVX512x1t1}}},
	}, depthwiseGradientsAVX2[1:]...)
	depthwiseGradientsAVX2 = []depthwiseGradients{
		{16, []depthwiseGradient{{5, depthwiseGradientAVX2x2t5}, {3, depthwiseGradientAVX2x2t3},
			{1, depthwiseGradientAVX2x2t1}}},
		{8, []depthwiseGradient{{5, depthwiseGradientAVX2x1t5}, {3, depthwiseGradientAVX2x1t3},
			{1, depthwiseGradientAVX2x1t1}}},
	}
)
