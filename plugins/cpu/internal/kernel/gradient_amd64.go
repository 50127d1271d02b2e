//go:build !purego

package kernel

// Sums and operands of a tile fill the vector registers, as in a tile of Window.
var (
	gradientAVX512 = []gradientTiles{
		{64, []sizedGradient{{6, gradientAVX512x4m6}, {4, gradientAVX512x4m4}, {2, gradientAVX512x4m2},
			{1, gradientAVX512x4m1}}},
		{32, []sizedGradient{{12, gradientAVX512x2m12}, {8, gradientAVX512x2m8}, {4, gradientAVX512x2m4},
			{2, gradientAVX512x2m2}, {1, gradientAVX512x2m1}}},
		{16, []sizedGradient{{16, gradientAVX512x1m16}, {8, gradientAVX512x1m8}, {4, gradientAVX512x1m4},
			{2, gradientAVX512x1m2}, {1, gradientAVX512x1m1}}},
	}
	denseGradientAVX512 = []denseGradientTile{{6, denseGradientAVX512m6}, {4, denseGradientAVX512m4},
		{2, denseGradientAVX512m2}, {1, denseGradientAVX512m1}}
	gradientAVX2 = []gradientTiles{
		{16, []sizedGradient{{6, gradientAVX2x1m6}, {4, gradientAVX2x1m4}, {2, gradientAVX2x1m2},
			{1, gradientAVX2x1m1}}},
	}
	stagedGradientAVX2 = stagedGradient{values: stageValuesAVX2, channels: stageChannelsAVX2,
		tiles: [...]stagedTile{stagedAVX2m1, stagedAVX2m2, stagedAVX2m3, stagedAVX2m4, stagedAVX2m5, stagedAVX2m6}}
)
