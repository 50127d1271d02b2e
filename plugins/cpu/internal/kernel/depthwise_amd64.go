//go:build !purego

package kernel

// Columns of many channels share the addresses that a tap needs.
var (
	depthwiseAVX512 = []depthwiseTiles{
		{64, 4, depthwiseAVX512x4p4, depthwiseAVX512x4p1, depthwiseGradientAVX512x4},
		{32, 4, depthwiseAVX512x2p4, depthwiseAVX512x2p1, depthwiseGradientAVX512x2},
		{16, 4, depthwiseAVX512x1p4, depthwiseAVX512x1p1, depthwiseGradientAVX512x1},
		{8, 2, depthwiseAVX2x1p2, depthwiseAVX2x1p1, depthwiseGradientAVX2x1},
	}
	depthwiseAVX2 = []depthwiseTiles{
		{32, 2, depthwiseAVX2x4p2, depthwiseAVX2x4p1, depthwiseGradientAVX2x4},
		{16, 2, depthwiseAVX2x2p2, depthwiseAVX2x2p1, depthwiseGradientAVX2x2},
		{8, 2, depthwiseAVX2x1p2, depthwiseAVX2x1p1, depthwiseGradientAVX2x1},
	}
)
