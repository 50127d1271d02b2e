//go:build !purego

package kernel

var depthwiseNEON = []depthwiseTiles{
	{16, 4, depthwiseNEONx4p4, depthwiseNEONx4p1},
	{4, 4, depthwiseNEONx1p4, depthwiseNEONx1p1},
}

var depthwiseGradientsNEON = []depthwiseGradients{
	{16, []depthwiseGradient{{1, depthwiseGradientNEONx4t1}}},
	{4, []depthwiseGradient{{1, depthwiseGradientNEONx1t1}}},
}
