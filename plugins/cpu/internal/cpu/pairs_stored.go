package cpu

import (
	"unsafe"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// stored is values that are bfloat16 and what lies behind them in memory, in
// two bytes each or, if half is nil, as float32.
type stored struct {
	wide []float32
	half []uint16
}

// stored returns the elements of v in all its units and the slack behind them.
func (f *frame) stored(v *value) stored {
	if b := f.bytes(v); v.half {
		return stored{half: of[uint16](b[:len(b)+slack])}
	}
	return stored{wide: f.slack(v)}
}

// from returns the values from i on.
func (s stored) from(i int) stored {
	if s.half != nil {
		return stored{half: s.half[i:]}
	}
	return stored{wide: s.wide[i:]}
}

// bytes returns the memory of values [from, to), as far as there are so many.
func (s stored) bytes(from, to int) []byte {
	if s.half != nil {
		return bytesOf(s.half[min(from, len(s.half)):min(to, len(s.half))])
	}
	return bytesOf(s.wide[min(from, len(s.wide)):min(to, len(s.wide))])
}

func bytesOf[T float32 | uint16](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0))))
}

// interleave interleaves the runs at offsets as kernel.InterleaveBF16 does.
func (s stored) interleave(k *kernel.Set, dst []uint16, offsets []int32, lanes int) {
	if s.half != nil {
		k.InterleaveHalves(dst, s.half, offsets, lanes)
		return
	}
	k.InterleaveBF16(dst, s.wide, offsets, lanes)
}

// room returns memory for as many values of the same size as there are in room.
func (s stored) room(room []float32) stored {
	if s.half == nil {
		return stored{wide: room}
	}
	return stored{half: unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(room))), len(room))}
}

// pad copies the first n values to line, between so many zeros.
func (s stored) pad(line stored, left, n, right int) {
	if s.half != nil {
		pad(line.half, s.half[:n], left, right)
		return
	}
	pad(line.wide, s.wide[:n], left, right)
}

func pad[T float32 | uint16](line, values []T, left, right int) {
	clear(line[:left])
	copy(line[left:], values)
	clear(line[left+len(values):][:right])
}
