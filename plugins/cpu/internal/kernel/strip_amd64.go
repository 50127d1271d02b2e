//go:build !purego

package kernel

// 16 positions and three vectors of weights leave room for what is broadcast;
// so do three columns of 8 values.
var (
	stripsAVX512 = stripTiles{[]sizedStrip{{16, stripAVX512p16}, {8, stripAVX512p8}, {4, stripAVX512p4},
		{2, stripAVX512p2}, {1, stripAVX512p1}}, 8, 16, stripGradientAVX512}
	stripsAVX2 = stripTiles{[]sizedStrip{{4, stripAVX2p4}, {2, stripAVX2p2}, {1, stripAVX2p1}},
		4, 8, stripGradientAVX2}
)
