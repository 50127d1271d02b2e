//go:build !purego

package kernel

// directsNEON has tiles of up to 5 positions by 16 channels. Their sums, a vector of weights for these
// channels, and four values of each of 7 pixels leave one register free.
var directsNEON = directTiles{[]sizedDirect{{5, directNEONp5}, {4, directNEONp4}, {3, directNEONp3},
	{2, directNEONp2}, {1, directNEONp1}}, 4, 8, directGradientNEON}
