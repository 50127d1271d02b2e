//go:build !purego

package kernel

// The roundings and tiles with the instructions for bfloat16, with AVX-512 alone, and with
// AVX2. The widest tiles fill the vector registers.
var (
	bf16AVX512 = bf16Kernels{16, roundBF16AVX512BF16, narrowBF16AVX512BF16, widenBF16AVX512BF16}
	bf16AVX2   = bf16Kernels{8, roundBF16AVX2, narrowBF16AVX2, widenBF16AVX2}

	pairsAVX512BF16 = []pairsTiles{
		{64, []sizedPairs{{6, pairsAVX512BF16x4p6}, {4, pairsAVX512BF16x4p4}, {2, pairsAVX512BF16x4p2},
			{1, pairsAVX512BF16x4p1}}},
		{32, []sizedPairs{{12, pairsAVX512BF16x2p12}, {8, pairsAVX512BF16x2p8}, {4, pairsAVX512BF16x2p4},
			{2, pairsAVX512BF16x2p2}, {1, pairsAVX512BF16x2p1}}},
		{16, []sizedPairs{{12, pairsAVX512BF16x1p12}, {8, pairsAVX512BF16x1p8}, {4, pairsAVX512BF16x1p4},
			{2, pairsAVX512BF16x1p2}, {1, pairsAVX512BF16x1p1}}},
	}
	pairsAVX512 = []pairsTiles{
		{64, []sizedPairs{{6, pairsAVX512x4p6}, {4, pairsAVX512x4p4}, {2, pairsAVX512x4p2}, {1, pairsAVX512x4p1}}},
		{32, []sizedPairs{{12, pairsAVX512x2p12}, {8, pairsAVX512x2p8}, {4, pairsAVX512x2p4}, {2, pairsAVX512x2p2},
			{1, pairsAVX512x2p1}}},
		{16, []sizedPairs{{12, pairsAVX512x1p12}, {8, pairsAVX512x1p8}, {4, pairsAVX512x1p4}, {2, pairsAVX512x1p2},
			{1, pairsAVX512x1p1}}},
	}
	pairsAVX2 = []pairsTiles{
		{16, []sizedPairs{{4, pairsAVX2x1p4}, {2, pairsAVX2x1p2}, {1, pairsAVX2x1p1}}},
	}
)
