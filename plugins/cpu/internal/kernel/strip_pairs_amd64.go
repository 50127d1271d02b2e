//go:build !purego

package kernel

// Tiles of StripPairs, for so many positions: 16, three vectors of weights and
// what is broadcast fit into the registers.
var (
	stripPairsAVX512BF16 = []sizedStripPairs{{16, stripPairsAVX512BF16p16}, {8, stripPairsAVX512BF16p8},
		{4, stripPairsAVX512BF16p4}, {2, stripPairsAVX512BF16p2}, {1, stripPairsAVX512BF16p1}}
	stripPairsAVX512 = []sizedStripPairs{{16, stripPairsAVX512p16}, {8, stripPairsAVX512p8},
		{4, stripPairsAVX512p4}, {2, stripPairsAVX512p2}, {1, stripPairsAVX512p1}}
	stripPairsAVX2 = []sizedStripPairs{{4, stripPairsAVX2p4}, {2, stripPairsAVX2p2}, {1, stripPairsAVX2p1}}
)
