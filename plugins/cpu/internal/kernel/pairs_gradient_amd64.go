//go:build !purego

package kernel

// The tiles of PairsGradient fill the vector registers, like the tiles of Pairs.
var (
	pairsGradientsAVX512BF16 = pairsGradients{[]pairsGradientTiles{
		{4, []sizedPairsGradient{{6, pairsGradientAVX512BF16x4m6}, {5, pairsGradientAVX512BF16x4m5},
			{4, pairsGradientAVX512BF16x4m4}, {2, pairsGradientAVX512BF16x4m2}, {1, pairsGradientAVX512BF16x4m1}}},
		{3, []sizedPairsGradient{{9, pairsGradientAVX512BF16x3m9}, {8, pairsGradientAVX512BF16x3m8},
			{4, pairsGradientAVX512BF16x3m4}, {2, pairsGradientAVX512BF16x3m2}, {1, pairsGradientAVX512BF16x3m1}}},
		{2, []sizedPairsGradient{{12, pairsGradientAVX512BF16x2m12}, {8, pairsGradientAVX512BF16x2m8},
			{4, pairsGradientAVX512BF16x2m4}, {2, pairsGradientAVX512BF16x2m2}, {1, pairsGradientAVX512BF16x2m1}}},
		{1, []sizedPairsGradient{{16, pairsGradientAVX512BF16x1m16}, {8, pairsGradientAVX512BF16x1m8},
			{4, pairsGradientAVX512BF16x1m4}, {2, pairsGradientAVX512BF16x1m2}, {1, pairsGradientAVX512BF16x1m1}}},
	}, interleaveAVX512, interleaveHalvesAVX512}
	pairsGradientsAVX512 = pairsGradients{[]pairsGradientTiles{
		{4, []sizedPairsGradient{{6, pairsGradientAVX512x4m6}, {5, pairsGradientAVX512x4m5},
			{4, pairsGradientAVX512x4m4}, {2, pairsGradientAVX512x4m2}, {1, pairsGradientAVX512x4m1}}},
		{3, []sizedPairsGradient{{9, pairsGradientAVX512x3m9}, {8, pairsGradientAVX512x3m8},
			{4, pairsGradientAVX512x3m4}, {2, pairsGradientAVX512x3m2}, {1, pairsGradientAVX512x3m1}}},
		{2, []sizedPairsGradient{{12, pairsGradientAVX512x2m12}, {8, pairsGradientAVX512x2m8},
			{4, pairsGradientAVX512x2m4}, {2, pairsGradientAVX512x2m2}, {1, pairsGradientAVX512x2m1}}},
		{1, []sizedPairsGradient{{16, pairsGradientAVX512x1m16}, {8, pairsGradientAVX512x1m8},
			{4, pairsGradientAVX512x1m4}, {2, pairsGradientAVX512x1m2}, {1, pairsGradientAVX512x1m1}}},
	}, interleaveAVX512, interleaveHalvesAVX512}
	pairsGradientsAVX2 = pairsGradients{[]pairsGradientTiles{
		{1, []sizedPairsGradient{{6, pairsGradientAVX2x1m6}, {4, pairsGradientAVX2x1m4},
			{2, pairsGradientAVX2x1m2}, {1, pairsGradientAVX2x1m1}}},
	}, interleaveAVX2, interleaveHalvesAVX2}
)
