package kernel

import (
	"fmt"
	"unsafe"
)

// InterleaveBF16 takes the runs of values that begin at offsets, in bytes from
// the image, two after two, and sets dst, [pairs][lanes][2], to the pairs of
// their values; a last run without a partner and negative offsets are paired
// with zeros. lanes is the length of a run rounded up to whole Lanes: so many
// values must be readable at every offset, also behind the last of in. They are
// bfloat16 already.
func (s *Set) InterleaveBF16(dst []uint16, in []float32, offsets []int32, lanes int) {
	interleave(s.pairsGradients.interleave, dst, in, offsets, lanes, bf16)
}

// InterleaveHalves is InterleaveBF16 of an image that is bfloat16 in two bytes
// each. Offsets are as there: twice as many bytes as the values take.
func (s *Set) InterleaveHalves(dst, in []uint16, offsets []int32, lanes int) {
	interleave(s.pairsGradients.interleaveHalves, dst, in, offsets, lanes, func(v uint16) uint16 { return v })
}

// MostInterleaved is the largest number of lanes that are interleaved.
const MostInterleaved = 1 << 13

// zeroRun is a run of zeros for interleaving, whatever a value takes.
var zeroRun [MostInterleaved]float32

// interleave is InterleaveBF16 by assembly, or by what bits says of a value.
func interleave[T float32 | uint16](assembly func(dst *uint16, in *T, zero int, offs *int32, pairs, lanes int),
	dst []uint16, in []T, offsets []int32, lanes int, bits func(T) uint16) {
	if lanes%Lanes != 0 || lanes < 1 || lanes > MostInterleaved || len(dst) < (len(offsets)+1)/2*2*lanes {
		panic(fmt.Sprintf("kernel.InterleaveBF16: %d runs of %d lanes into %d values", len(offsets), lanes, len(dst)))
	}
	pairs := len(offsets) / 2
	if len(offsets)%2 != 0 {
		last := [2]int32{offsets[2*pairs], -1}
		interleave(assembly, dst[2*lanes*pairs:], in, last[:], lanes, bits)
	}
	if pairs == 0 {
		return
	}
	base := unsafe.Pointer(unsafe.SliceData(in))
	if assembly != nil {
		zero := int(uintptr(unsafe.Pointer(&zeroRun)) - uintptr(base))
		assembly(&dst[0], (*T)(base), zero, &offsets[0], pairs, lanes)
		return
	}
	const wide = 4 // bytes of a value for which offsets are
	for i, o := range offsets[:2*pairs] {
		run := unsafe.Slice((*T)(unsafe.Pointer(&zeroRun)), lanes)
		if o >= 0 {
			run = unsafe.Slice((*T)(unsafe.Add(base, uintptr(o)/wide*unsafe.Sizeof(run[0]))), lanes)
		}
		to := dst[i/2*2*lanes+i%2:]
		for k, v := range run {
			to[2*k] = bits(v)
		}
	}
}
