package kernel

import (
	"fmt"
	"unsafe"
)

// PairsLine describes the runs of a line of an image. Two runs at a time are interleaved.
type PairsLine struct {
	// Offsets are the starts of the runs, in bytes from a line of float32. A negative
	// offset means a run of zeros.
	Offsets []int32
	// Lanes is the length of a run, rounded up to a multiple of the constant Lanes. This
	// number of values must be readable at every offset, even past the end of the image.
	Lanes int
	Step  int // distance between lines in values
}

// Len returns the number of values in an interleaved line.
func (l PairsLine) Len() int { return len(l.Offsets) * l.Lanes }

// InterleaveBF16 sets dst, [lines][pairs][Lanes][2], to the pairs of values in the given number of lines.
// The values of in can be represented as bfloat16.
func (s *Set) InterleaveBF16(l PairsLine, dst []uint16, in []float32, lines int) {
	interleave(s.pairsGradients.interleave, l, dst, in, lines, bf16)
}

// InterleaveHalves does the same as InterleaveBF16 for bfloat16 in two bytes each. Offsets are the same
// as for float32, twice the actual distance in bytes.
func (s *Set) InterleaveHalves(l PairsLine, dst, in []uint16, lines int) {
	interleave(s.pairsGradients.interleaveHalves, l, dst, in, lines, func(v uint16) uint16 { return v })
}

// mostInterleaved is the maximum number of lanes of a run that is interleaved.
const mostInterleaved = 4 * PanelLanes

// zeroRun is a run of zeros for interleaving values of any size.
var zeroRun [mostInterleaved]float32

// interleave computes InterleaveBF16 by assembly if there is any, otherwise in Go. bits converts a value to
// the bits of a bfloat16.
func interleave[T float32 | uint16](
	assembly func(dst *uint16, in *T, zero int, offs *int32, pairs, lanes, lines, step int),
	l PairsLine, dst []uint16, in []T, lines int, bits func(T) uint16) {
	if l.Lanes%Lanes != 0 || l.Lanes < 1 || l.Lanes > mostInterleaved || len(l.Offsets)%2 != 0 ||
		len(dst) < lines*l.Len() {
		panic(fmt.Sprintf("kernel.InterleaveBF16: %d lines of %d runs of %d lanes into %d values", lines,
			len(l.Offsets), l.Lanes, len(dst)))
	}
	if lines == 0 || len(l.Offsets) == 0 {
		return
	}
	base, size := unsafe.Pointer(unsafe.SliceData(in)), int(unsafe.Sizeof(T(0)))
	if assembly != nil {
		zero := int(uintptr(unsafe.Pointer(&zeroRun)) - uintptr(base))
		assembly(&dst[0], (*T)(base), zero, &l.Offsets[0], len(l.Offsets)/2, l.Lanes, lines, size*l.Step)
		return
	}
	const float32Size = 4 // size of the values that offsets refer to
	for y := range lines {
		for i, o := range l.Offsets {
			run := unsafe.Slice((*T)(unsafe.Pointer(&zeroRun)), l.Lanes)
			if o >= 0 {
				run = unsafe.Slice((*T)(unsafe.Add(base, size*(y*l.Step+int(o)/float32Size))), l.Lanes)
			}
			to := dst[y*l.Len()+i/2*2*l.Lanes+i%2:]
			for k, v := range run {
				to[2*k] = bits(v)
			}
		}
	}
}
