package run

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
)

// A row may be stored as a whole in the arena, or in a lane while it passes through its group, or as a ring
// of a few image rows. A bf16 program stores it with two bytes per element (a half) if all its readers
// accept that. For other readers a float32 copy is stored in the lane.

// Value describes one value of a function for the compiler and the executor.
type Value struct {
	layout.Layout
	Name string

	// The Linker decides the place of the value:
	slot    *arena.Slot  // its piece of memory, unless it is state or an input
	local   bool         // the slot is in the memory of a lane, not in the arena
	private bool         // in a lane of the worker, also if workers share a row
	half    bool         // elements are bfloat16 of two bytes
	float   *Value       // float32 copy of a half in a lane, during a group that needs one
	alias   *Value       // another value of the group that uses the same memory, if both are local
	joined  *Value       // the larger value that this one is stored in, among its channels; or nil
	first   int          // first channel of this value in joined
	slack   bool         // an input that is copied, because kernels read past its end
	adds    bool         // the action that makes it adds it to sums with Frame.Add if possible
	summed  bool         // the action that makes it writes the sum of all replicas in place of one
	judged  bool         // the action that makes it calls Frame.NotFinite if an element is infinite or NaN
	state   *arena.State // the state tensor that the value is, or overwrites in place
	source  *Value       // the value of the earlier function that this one is a copy of, in another order
	input   int          // index of the input, or -1
}

// SetChecked records that the action that makes v checks whether its elements are finite: see
// Frame.NotFinite.
func (v *Value) SetChecked() { v.judged = true }

// NewValue returns the value of a variable, which has no place yet.
func NewValue(v graph.Variable) *Value {
	return &Value{Layout: layout.Of(v.Type), Name: v.Name, input: -1}
}

// SetSlack records that kernels read past the end of v, so that memory follows it.
func (v *Value) SetSlack() { v.slack = true }

// AllowAdding records that the action that makes v can add v to sums instead of storing it.
func (v *Value) AllowAdding() { v.adds = true }

// SetSummed records that the action that makes v sums it over the replicas and writes only
// one of them.
func (v *Value) SetSummed() { v.summed = true }

// width returns the size of an element in bytes.
func (v *Value) width() int {
	if v.half {
		return 2
	}
	return v.DType.Size()
}

// size returns the size of one unit in bytes.
func (v *Value) size() int { return v.Count * v.width() }

// storedBytes returns how many bytes of one unit are in memory at a time. In a ring, these are not all.
func (v *Value) storedBytes() int { return v.StoredCount() * v.width() }

// Reach returns the number of bytes of v that a run of the given rows reads or writes. stored is the number
// of bytes that v has in memory at a time. For rows in a lane this is one row.
func (v *Value) Reach(rows int) (bytes, stored int) {
	bytes, stored = v.storedBytes(), v.storedBytes()
	if v.state == nil && v.Kind == graph.Rows {
		bytes = v.size() * rows
		if !v.local {
			stored = bytes
		}
	}
	return bytes, stored
}

// InOrder returns a value of the same type as v, with elements in the order of its shape. It has no place
// in memory.
func (v *Value) InOrder() *Value {
	l := layout.Layout{Type: v.Type, Count: v.Count, Channels: 1, Positions: v.Count}
	return &Value{Layout: l, input: -1}
}

// IsHalf reports whether its elements are bfloat16 of two bytes. It is valid once the
// function is linked.
func (v *Value) IsHalf() bool { return v.half }

// IsOverOperand reports whether v overwrites an operand of the action that makes it.
func (v *Value) IsOverOperand() bool { return v.alias != nil && v.slot == v.alias.slot }

// IsOver reports whether v has the same place in memory as x, element by element.
func (v *Value) IsOver(x *Value) bool {
	return v.slot != nil && v.slot == x.slot && v.local == x.local && v.joined == nil && x.joined == nil
}

// IsInserted reports whether v is stored among the channels of a wider value.
func (v *Value) IsInserted() bool { return v.joined != nil }

// Step returns the number of elements from the start of one position to the next.
func (v *Value) Step() int {
	if v.joined != nil {
		return v.joined.Channels
	}
	return v.Channels
}

// RowStep returns the number of elements from the start of one row to the next.
func (v *Value) RowStep() int {
	if v.joined != nil {
		return v.joined.Count
	}
	return v.Count
}

// State returns the state tensor that v is, or nil.
func (v *Value) State() *arena.State { return v.state }

// F32 returns the elements of all units of v, which is not a half.
func (f *Frame) F32(v *Value) []float32 {
	if v.half {
		panic("cpu: a half is read as float32: " + v.Name)
	}
	return layout.View[float32](f.Bytes(v))
}

// F64 returns the float64 elements of all units of v.
func (f *Frame) F64(v *Value) []float64 { return layout.View[float64](f.Bytes(v)) }

// Row returns unit i of v. x has the elements of all units.
func Row[T any](x []T, v *Value, i int) []T { return x[i*v.Count : (i+1)*v.Count] }

// Slack returns the elements of v, followed by memory that kernels may read past their end.
func (f *Frame) Slack(v *Value) []float32 {
	b := f.Bytes(v)
	return layout.View[float32](b[:len(b)+arena.Slack])
}

// widened is the float32 copy of a half, for one row that passes through a group. It is in the memory of a
// lane. Either a separate action makes it before its first reader. Or the action that computes the half
// writes the float32 first, which is then converted to the half span by span while it is in the cache.
type widened struct {
	id          graph.Value
	half, float *Value
	first, last int // actions that delimit its use
}
