//go:build !purego

package kernel

// The tiles fill the vector registers. With AVX-512, sums of 6 positions by 64 channels are in 24 of 32
// registers. With AVX2, sums of 6 positions by 16 channels are in 12 of 16.
var (
	windowAVX512 = []windowTiles{
		{64, true, false, 32, []sizedWindow{{6, windowAVX512x4p6}, {5, windowAVX512x4p5}, {4, windowAVX512x4p4},
			{3, windowAVX512x4p3}, {2, windowAVX512x4p2}, {1, windowAVX512x4p1}}, nil},
		{32, true, false, 0, []sizedWindow{{12, windowAVX512x2p12}, {8, windowAVX512x2p8}, {4, windowAVX512x2p4},
			{2, windowAVX512x2p2}, {1, windowAVX512x2p1}}, nil},
		{24, true, false, 0, []sizedWindow{{12, windowAVX512x1hp12}, {8, windowAVX512x1hp8}, {4, windowAVX512x1hp4},
			{2, windowAVX512x1hp2}, {1, windowAVX512x1hp1}}, nil},
		{16, true, false, 0, []sizedWindow{{12, windowAVX512x1p12}, {8, windowAVX512x1p8}, {4, windowAVX512x1p4},
			{2, windowAVX512x1p2}, {1, windowAVX512x1p1}}, nil},
		{8, true, false, 0, []sizedWindow{{12, windowAVX512hp12}, {8, windowAVX512hp8}, {4, windowAVX512hp4},
			{2, windowAVX512hp2}, {1, windowAVX512hp1}}, nil},
	}
	windowAVX2 = []windowTiles{
		{32, false, true, 0, []sizedWindow{{3, windowAVX2x2p3}, {2, windowAVX2x2p2}, {1, windowAVX2x2p1}}, nil},
		{24, false, true, 0, []sizedWindow{{4, windowAVX2x1hp4}, {3, windowAVX2x1hp3}, {2, windowAVX2x1hp2},
			{1, windowAVX2x1hp1}}, nil},
		{16, false, false, 16, []sizedWindow{{6, windowAVX2x1p6}, {5, windowAVX2x1p5}, {4, windowAVX2x1p4},
			{3, windowAVX2x1p3}, {2, windowAVX2x1p2}, {1, windowAVX2x1p1}},
			[]windowTile{resumedAVX2x1p6, resumedAVX2x1p5, resumedAVX2x1p4, resumedAVX2x1p3, resumedAVX2x1p2,
				resumedAVX2x1p1}},
		{8, false, false, 0, []sizedWindow{{12, windowAVX2hp12}, {8, windowAVX2hp8}, {4, windowAVX2hp4},
			{2, windowAVX2hp2}, {1, windowAVX2hp1}}, nil},
	}
)
