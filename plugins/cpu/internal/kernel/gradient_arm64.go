//go:build !purego

package kernel

// The tiles fill the vector registers, like the tiles of Window.
var gradientNEON = []gradientTiles{{Lanes, []sizedGradient{{6, gradientNEONm6}, {4, gradientNEONm4},
	{2, gradientNEONm2}, {1, gradientNEONm1}}}}
