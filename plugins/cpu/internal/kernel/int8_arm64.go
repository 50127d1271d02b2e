//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Tiles have 16 channels. A tile of the products by pairs has registers for two positions.
var (
	int8NEONDot = int8Kernels{column: 16, store: storeInt8NEON, offset: 128, lanes: 16,
		byTap:     depthwiseByTapNEON,
		int8Bytes: int8BytesNEON,
		tiles:     []int8Tiles{{16, []sizedInt8{{6, int8NEONDotp6}, {3, int8NEONDotp3}, {1, int8NEONDotp1}}}}}
	int8NEON = int8Kernels{column: 16, store: storeInt8NEON, offset: 128, lanes: 16, byTap: depthwiseByTapNEON,
		int8Bytes: int8BytesNEON,
		tiles:     []int8Tiles{{16, []sizedInt8{{2, int8NEONp2}, {1, int8NEONp1}}}}}

	int8BytesNEON = int8Bytes{
		add: func(y, a, b *byte, aBy, bBy, most float32, aZero, bZero, zero, least, vectors int) {
			addInt8NEON(y, a, b, aBy, bBy, int(most)+zero, aZero, bZero, zero, least, vectors)
		},
		addJoint: func(y, a, b *byte, aBy, bBy, at, most float32, zero, least, vectors int) {
			addJointInt8NEON(y, a, b, aBy, bBy, at, int(most)+zero, zero, least, vectors)
		},
		quantize: func(y *byte, x *float32, scale, most float32, zero, vectors int) {
			quantizeInt8NEON(y, x, scale, int(most)+zero, zero, 0, vectors)
		},
		maxPool: maxPoolInt8NEON,
		sum:     sumInt8NEON,
		gate: func(y, a *byte, gate *float32, by, at, most float32, aZero, zero, least, vectors int) {
			gateInt8NEON(y, a, gate, by, at, int(most)+zero, aZero, zero, least, vectors)
		}}
)

// int8OfARM64 returns the kernels for this processor, which has an instruction for dot products of bytes or
// only for products.
func int8OfARM64() *int8Kernels {
	if cpu.ARM64.HasASIMDDP {
		return &int8NEONDot
	}
	return &int8NEON
}

// storeInt8NEON converts sums to bytes, 16 at a time. Rows of sums and factors are padded to 16.
func storeInt8NEON(out *byte, outs, sums *int32, by *float32, most float32, zero, least, channels,
	positions int) {
	const vector = 16
	blocks, rest := channels/vector, channels%vector
	for p, at := range unsafe.Slice(outs, positions) {
		y := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(out), int(at)/4)), channels)
		row := unsafe.Slice(sums, (p+1)*PanelLanes)[p*PanelLanes:]
		if blocks > 0 {
			requantiseNEON(&y[0], &row[0], by, int(most)+zero, zero, least, blocks)
		}
		if rest > 0 {
			var last [vector]byte
			factors := unsafe.Slice(by, (blocks+1)*vector)
			requantiseNEON(&last[0], &row[blocks*vector], &factors[blocks*vector], int(most)+zero, zero, least, 1)
			copy(y[blocks*vector:], last[:])
		}
	}
}

func depthwiseByTapNEON(out *byte, outs *int32, in *byte, pad int, offs *int32, offStep, taps int, w *int8,
	start *int32, by *float32, most float32, zero, least, width, positions int, at *[mostTapsInt8]uintptr,
	spare *byte) {
	depthwiseInt8NEON(out, outs, in, pad, offs, offStep, taps, w, start, by, int(most)+zero, zero, least, width,
		positions, at, spare)
}
