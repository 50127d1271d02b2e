//go:build !purego

package kernel

// The tiles fill the 32 vector registers. The sums of 5 positions by 16 channels are in 20 of them, their
// weights in 4, and four values of each position's run in 5.
var windowNEON = []windowTiles{{Lanes, false, false, 0, []sizedWindow{{5, windowNEONp5}, {4, windowNEONp4},
	{3, windowNEONp3}, {2, windowNEONp2}, {1, windowNEONp1}}, nil}}
