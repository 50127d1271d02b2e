package cpu

import (
	"unsafe"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// value is what the compiler knows of one value of a function.
type value struct {
	graph.Type
	name  string
	count int // elements of one unit: of a row, of a replica, or of the whole
	// channels and positions split count for values with an axis 0: last
	// says that axis 0 comes last in memory, as [positions][channels].
	channels, positions int
	last                bool

	slot  *slot  // where it lies, unless it is one of the following
	local bool   // the slot is in the memory of a lane, not in the arena
	own   bool   // of the lane of the worker even if rows are few
	half  bool   // its elements are bfloat16 of two bytes
	wide  *value // of a half: its float32 in a lane, while a group runs that needs it
	ring  int    // positions that are kept, position p where p mod ring lies; 0: all
	state *state // the state tensor that it reads
	input int    // the input that it is, -1 for none
}

// newValue returns the value of a variable, which has no place yet.
func newValue(v graph.Variable) *value {
	out := &value{Type: v.Type, name: v.Name, count: tensor.Count(v.Type.Shape), channels: 1, input: -1}
	if len(v.Type.Shape) > 0 {
		out.channels = v.Type.Shape[0]
	}
	out.positions = out.count / max(out.channels, 1)
	out.last = v.Type.Kind == graph.Rows && v.Type.DType == tensor.F32 && len(v.Type.Shape) > 1
	return out
}

// width returns the bytes of an element.
func (v *value) width() int {
	if v.half {
		return 2
	}
	return v.DType.Size()
}

// size returns the bytes of one unit.
func (v *value) size() int { return v.count * v.width() }

// kept returns how many elements of one unit are kept at a time.
func (v *value) kept() int {
	if v.ring > 0 {
		return v.ring * v.channels
	}
	return v.count
}

// held returns the bytes of one unit that are kept at a time.
func (v *value) held() int { return v.kept() * v.width() }

// stretches calls do for positions [from, to), in parts that are kept side by
// side: at is where a part begins.
func (v *value) stretches(from, to int, do func(at, from, to int)) {
	ring := v.positions
	if v.ring > 0 {
		ring = v.ring
	}
	for from < to {
		at := from % ring
		end := min(to, from+ring-at)
		do(at, from, end)
		from = end
	}
}

// row returns the positions of a row of an image [C, H, W].
func (v *value) row() int { return max(v.Shape[len(v.Shape)-1], 1) }

// ringRows returns how many rows of an image are kept.
func (v *value) ringRows() int { return v.ring / v.row() }

// strides returns, for each axis of the shape, how many elements apart its
// neighbours lie in memory.
func (v *value) strides() []int {
	s := rowMajor(v.Shape)
	if !v.last {
		return s
	}
	s[0] = 1
	for i := 1; i < len(s); i++ {
		s[i] *= v.channels
	}
	return s
}

// rowMajor returns the strides of a shape whose last axis is the innermost.
func rowMajor(shape []int) []int {
	s, n := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// of views bytes as elements.
func of[T tensor.Element](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// f32 returns the elements of v, which is no half, in all its units.
func (f *frame) f32(v *value) []float32 {
	if v.half {
		panic("cpu: a half is read as float32: " + v.name)
	}
	return of[float32](f.bytes(v))
}

// allHalf returns the elements of a half in all its rows.
func (f *frame) allHalf(v *value) []uint16 { return of[uint16](f.bytes(v)) }

// f64 returns the elements of v in all its units.
func (f *frame) f64(v *value) []float64 { return of[float64](f.bytes(v)) }

// row returns unit i of a value with elements x.
func row[T any](x []T, v *value, i int) []T { return x[i*v.count : (i+1)*v.count] }

// f32s returns the elements of v and the slack that lies behind them.
func (f *frame) slack(v *value) []float32 {
	b := f.bytes(v)
	return of[float32](b[:len(b)+slack])
}

// wide is the float32 of a half for a row that passes through a group, in the
// memory of a lane. An action of its own makes it before the first that reads
// it, or one that makes the half makes it first, which is then narrowed span by
// span while it is in the cache.
type wide struct {
	id          graph.Value
	half, float *value
	first, last int // actions between which it is in use
}
