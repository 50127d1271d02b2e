//go:build !purego

package kernel

// These are the register blocks of DirectPairs, by number of positions. The registers can hold the sums of
// 16 positions, three vectors of weights and a broadcast value.
var (
	directPairsAVX512BF16 = []sizedDirectPairs{{16, directPairsAVX512BF16p16}, {8, directPairsAVX512BF16p8},
		{4, directPairsAVX512BF16p4}, {2, directPairsAVX512BF16p2}, {1, directPairsAVX512BF16p1}}
	directPairsAVX512 = []sizedDirectPairs{{16, directPairsAVX512p16}, {8, directPairsAVX512p8},
		{4, directPairsAVX512p4}, {2, directPairsAVX512p2}, {1, directPairsAVX512p1}}
	directPairsAVX2 = []sizedDirectPairs{{4, directPairsAVX2p4}, {2, directPairsAVX2p2}, {1, directPairsAVX2p1}}
)
