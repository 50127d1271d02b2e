package gpu

import (
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// value is a value of a function, with the memory that the compiler assigned.
type value struct {
	graph.Type
	name  string
	count int    // elements of one unit (row, replica or whole)
	slot  *slot  // memory of the value, unless it is a state tensor
	state *state // state tensor that the value is, or nil
	last  int    // last node that reads the value; for an output, a number after all nodes
	alias *value // value with the same elements, with which it shares its memory; or nil
}

// origin returns the value that has the memory of v.
func (v *value) origin() *value {
	for v.alias != nil {
		v = v.alias
	}
	return v
}

// channels returns the length of axis 0, or 1 without axes.
func (v *value) channels() int {
	if len(v.Shape) == 0 {
		return 1
	}
	return v.Shape[0]
}

// positions returns the number of elements of a channel.
func (v *value) positions() int { return v.count / max(v.channels(), 1) }

// size returns the number of bytes of one unit.
func (v *value) size() int { return v.count * v.DType.Size() }

func newValue(v graph.Variable) *value {
	return &value{Type: v.Type, name: v.Name, count: tensor.Count(v.Type.Shape), last: -1}
}

// slot is memory for the units of a kind. Several values use it, one after the other.
type slot struct {
	kind   graph.Kind
	rows   int // number of rows of a chunk, if the kind is chunks
	bytes  int // size of a unit in bytes
	buffer Buffer
	size   int // size of the buffer in bytes
}

// want returns the number of bytes that a capacity needs.
func (r *slot) want(c device.Capacity) float64 {
	units := 1
	switch r.kind {
	case graph.Rows:
		units = c.Rows
	case graph.Replica:
		units = c.Replicas
	case chunks:
		units = c.Rows/r.rows + c.Replicas
	}
	return math.Ceil(float64(r.bytes)*float64(units)/16) * 16
}

// slots has all slots of an executable. free has those that no value uses.
type slots struct{ all, free []*slot }

// acquire returns a free slot: the smallest that is large enough, or else the largest one, which then
// grows.
func (r *slots) acquire(kind graph.Kind, bytes int) *slot {
	best := -1
	for i, have := range r.free {
		switch {
		case have.kind != kind:
		case best < 0:
			best = i
		case have.bytes >= bytes && (r.free[best].bytes < bytes || have.bytes < r.free[best].bytes),
			have.bytes < bytes && r.free[best].bytes < have.bytes:
			best = i
		}
	}
	if best < 0 {
		return r.reserve(kind, bytes)
	}
	got := r.free[best]
	r.free = append(r.free[:best], r.free[best+1:]...)
	got.bytes = max(got.bytes, bytes)
	return got
}

// reserve creates a slot that acquire does not return until it is released.
func (r *slots) reserve(kind graph.Kind, bytes int) *slot {
	made := &slot{kind: kind, bytes: bytes}
	r.all = append(r.all, made)
	return made
}

// release makes a slot free.
func (r *slots) release(x *slot) { r.free = append(r.free, x) }
