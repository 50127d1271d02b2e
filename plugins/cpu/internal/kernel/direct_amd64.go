//go:build !purego

package kernel

// The registers can hold the sums of 16 positions, three vectors of weights, and broadcast values. They can
// also hold the sums of three columns of the kernel for 8 values.
var (
	directsAVX512 = directTiles{[]sizedDirect{{16, directAVX512p16}, {8, directAVX512p8}, {4, directAVX512p4},
		{2, directAVX512p2}, {1, directAVX512p1}}, 8, 16, directGradientAVX512}
	directsAVX2 = directTiles{[]sizedDirect{{4, directAVX2p4}, {2, directAVX2p2}, {1, directAVX2p1}},
		4, 8, directGradientAVX2}
)
