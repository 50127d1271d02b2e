//go:build !purego

package kernel

var depthwiseNEON = []depthwiseTiles{
	{16, 4, depthwiseNEONx4p4, depthwiseNEONx4p1, depthwiseGradientNEONx4},
	{4, 4, depthwiseNEONx1p4, depthwiseNEONx1p1, depthwiseGradientNEONx1},
}
