package convolution

import (
	"unsafe"

	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// stored lets the same code work on maps of float32 and of bfloat16. One of its two slices is used,
// depending on the map. The choice is made once for a run.

// stored is a slice of values and the memory after them, as bfloat16 in two bytes each or,
// if half is nil, as float32.
type stored struct {
	float []float32
	half  []uint16
}

// storedIn returns the elements of all units of v and the slack after them.
func storedIn(f *run.Frame, v *run.Value) stored {
	if b := f.Bytes(v); v.IsHalf() {
		return stored{half: layout.View[uint16](b[:len(b)+arena.Slack])}
	}
	return stored{float: f.Slack(v)}
}

// slice returns the values of s that begin at index i.
func (s stored) slice(i int) stored {
	if s.half != nil {
		return stored{half: s.half[i:]}
	}
	return stored{float: s.float[i:]}
}

// prefetch adds runs of values (run is their length) to a, for prefetching. The runs begin at every step-th
// value of [from, to).
func (s stored) prefetch(a *kernel.Prefetcher, from, to, run, step int) {
	if s.half != nil {
		a.Add(bytesOf(s.half, from, to), 2*run, 2*step)
		return
	}
	a.Add(bytesOf(s.float, from, to), 4*run, 4*step)
}

// bytesOf returns the memory of values [from, to), or nil if the range is empty.
func bytesOf[T float32 | uint16](x []T, from, to int) []byte {
	if from >= to {
		return nil
	}
	x = x[from:to]
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0))))
}

// interleave interleaves the given number of lines with kernel.InterleaveBF16.
func (s stored) interleave(k *kernel.Set, l kernel.PairsLine, dst []uint16, lines int) {
	if s.half != nil {
		k.InterleaveHalves(l, dst, s.half, lines)
		return
	}
	k.InterleaveBF16(l, dst, s.float, lines)
}

// workspace returns memory for len(workspace) values of the same size as the values of s.
func (s stored) workspace(workspace []float32) stored {
	if s.half == nil {
		return stored{float: workspace}
	}
	return stored{half: unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(workspace))), len(workspace))}
}

// copy copies lines of n values each. In the destination, the lines begin step values apart.
func (s stored) copy(dst stored, n, step, lines int) {
	for i := range lines {
		if s.half != nil {
			copy(dst.half[i*step:], s.half[i*n:][:n])
		} else {
			copy(dst.float[i*step:], s.float[i*n:][:n])
		}
	}
}
