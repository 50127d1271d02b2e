//go:build !purego

package kernel

// 5 positions by 16 channels, a vector of weights for these, and four values of
// each of 7 pixels leave one register.
var stripsNEON = stripTiles{[]sizedStrip{{5, stripNEONp5}, {4, stripNEONp4}, {3, stripNEONp3},
	{2, stripNEONp2}, {1, stripNEONp1}}, 4, 8, stripGradientNEON}
