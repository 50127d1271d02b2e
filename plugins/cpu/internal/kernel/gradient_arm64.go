//go:build !purego

package kernel

// Sums and operands of a tile fill the vector registers, as in a tile of Window.
var gradientNEON = []gradientTiles{{Lanes, []sizedGradient{{6, gradientNEONm6}, {4, gradientNEONm4},
	{2, gradientNEONm2}, {1, gradientNEONm1}}}}
