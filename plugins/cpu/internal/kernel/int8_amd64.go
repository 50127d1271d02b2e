//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// Sums and operands of the largest tiles fill the vector registers. Tiles of words are for processors that
// cannot multiply bytes without saturation.
var (
	int8AVX512VNNI = int8Kernels{column: 64, store: requantiseAVX512, lanes: 64,
		depthwise: depthwiseInt8AVX512VNNI, int8Bytes: int8BytesAVX512, tiles: []int8Tiles{
			{64, []sizedInt8{{6, int8AVX512VNNIx4p6}, {4, int8AVX512VNNIx4p4}, {2, int8AVX512VNNIx4p2},
				{1, int8AVX512VNNIx4p1}}},
			{32, []sizedInt8{{12, int8AVX512VNNIx2p12}, {6, int8AVX512VNNIx2p6}, {3, int8AVX512VNNIx2p3},
				{1, int8AVX512VNNIx2p1}}},
			{16, []sizedInt8{{12, int8AVX512VNNIx1p12}, {6, int8AVX512VNNIx1p6}, {3, int8AVX512VNNIx1p3},
				{1, int8AVX512VNNIx1p1}}},
		}}
	int8AVX512Words = int8Kernels{column: 64, store: requantiseAVX512, lanes: 64, words: true,
		depthwise: depthwiseInt8AVX512Words, int8Bytes: int8BytesAVX512, tiles: []int8Tiles{
			{64, []sizedInt8{{4, int8AVX512Wordsx4p4}, {2, int8AVX512Wordsx4p2}, {1, int8AVX512Wordsx4p1}}},
			{32, []sizedInt8{{8, int8AVX512Wordsx2p8}, {4, int8AVX512Wordsx2p4}, {1, int8AVX512Wordsx2p1}}},
			{16, []sizedInt8{{12, int8AVX512Wordsx1p12}, {4, int8AVX512Wordsx1p4}, {1, int8AVX512Wordsx1p1}}},
		}}
	int8AVXVNNI = int8Kernels{column: 16, store: requantiseAVX2, lanes: 32, depthwise: depthwiseInt8AVXVNNI,
		int8Bytes: int8BytesAVX2, tiles: []int8Tiles{
			{16, []sizedInt8{{6, int8AVXVNNIx1p6}, {3, int8AVXVNNIx1p3}, {1, int8AVXVNNIx1p1}}},
		}}
	int8AVX2Words = int8Kernels{column: 16, store: requantiseAVX2, lanes: 32, words: true,
		depthwise: depthwiseInt8AVX2Words, int8Bytes: int8BytesAVX2, tiles: []int8Tiles{
			{16, []sizedInt8{{4, int8AVX2Wordsx1p4}, {2, int8AVX2Wordsx1p2}, {1, int8AVX2Wordsx1p1}}},
		}}
	int8AMX = int8Kernels{column: 64, store: requantiseAVX512, lanes: 64, depthwise: depthwiseInt8AVX512VNNI,
		int8Bytes: int8BytesAVX512, tiles: int8AVX512VNNI.tiles, matrix: &int8Matrix{
			products: [2][2]int8Product{{int8Matrix1x1, int8Matrix1x2}, {int8Matrix2x1, int8Matrix2x2}},
			stage:    int8Stage}}

	int8BytesAVX512 = int8Bytes{addInt8AVX512, addJointInt8AVX512, quantizeInt8AVX512, maxPoolInt8AVX512,
		sumInt8AVX512, gateInt8AVX512, maxPoolInt8AVX, mulInt8AVX512, dequantizeInt8AVX512}
	int8BytesAVX2 = int8Bytes{addInt8AVX2, addJointInt8AVX2, quantizeInt8AVX2, maxPoolInt8AVX2, sumInt8AVX2,
		gateInt8AVX2, maxPoolInt8AVX, mulInt8AVX2, dequantizeInt8AVX2}
)

// tableInt8 returns the function that looks up bytes, or nil if the processor lacks an
// instruction for it.
func tableInt8() func(y, x *byte, table *[256]byte, vectors int) {
	if cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512BW {
		return tableInt8VBMI
	}
	return nil
}

// int8AVX512 returns the kernels for bytes of a processor with AVX-512, or nil if it has no
// instructions for bytes and words.
func int8AVX512() *int8Kernels {
	switch {
	case !cpu.X86.HasAVX512BW || !cpu.X86.HasAVX512VL:
		return nil
	case matrixUnits() && matrixBytes() && cpu.X86.HasAVX512VNNI:
		return &int8AMX
	case cpu.X86.HasAVX512VNNI:
		return &int8AVX512VNNI
	}
	return &int8AVX512Words
}

// int8AVX2 returns the kernels for bytes of a processor with AVX2.
func int8AVX2() *int8Kernels {
	if cpu.X86.HasAVXVNNI {
		return &int8AVXVNNI
	}
	return &int8AVX2Words
}
