// Package layout describes how the elements of a value are ordered in memory, and visits them.
//
// Rows of rank 2 and more are stored with their first axis, the channels, last:
// [positions][channels], called nhwc in oneDNN. In terms of a kernel a position is a pixel, or one
// element of a sequence. All other values are stored in the order of their shape, and so are the
// rows that matrix products read and write (SetInOrder).
//
//	logical f32[3,2,2]      c0: a b / c d    c1: e f / g h    c2: i j / k l
//	in memory               a e i | b f j | c g k | d h l
package layout

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Layout is the type of a value and the order of its elements in memory.
type Layout struct {
	graph.Type
	Count int // elements of one unit: of a row, of a replica, or of the whole
	// Channels and Positions have the product Count if the value has axes. Last reports that axis 0 comes last
	// in memory, as [positions][channels].
	Channels, Positions int
	Last                bool
	// Ring is the number of positions in a ring buffer, in which position p is stored at p mod Ring. 0 means
	// that all positions are stored.
	Ring int
}

// Of returns the layout of values of type t.
func Of(t graph.Type) Layout {
	l := Layout{Type: t, Count: tensor.Count(t.Shape), Channels: 1}
	if len(t.Shape) > 0 {
		l.Channels = t.Shape[0]
	}
	l.Positions = l.Count / max(l.Channels, 1)
	l.Last = t.Kind == graph.Rows && t.DType == tensor.F32 && len(t.Shape) > 1
	return l
}

// SetInOrder stores the elements of a row in the order of its shape, as for a sequence. In
// terms of a kernel the last axis is the channels, and all axes before it are the
// positions.
func (l *Layout) SetInOrder() {
	l.Last = false
	l.Channels = max(l.Shape[len(l.Shape)-1], 1)
	l.Positions = l.Count / l.Channels
}

// SetChannelsLast stores a map of bytes with two axes or more channels last, in the same way as a map of
// float32.
func (l *Layout) SetChannelsLast() { l.Last = true }

// StoredCount returns how many elements of one unit are stored at a time.
func (l *Layout) StoredCount() int {
	if l.Ring > 0 {
		return l.Ring * l.Channels
	}
	return l.Count
}

// Stretches calls do for positions [from, to), in ranges that are stored contiguously. index
// is the stored index of the start of a range.
func (l *Layout) Stretches(from, to int, do func(index, from, to int)) {
	ring := l.Positions
	if l.Ring > 0 {
		ring = l.Ring
	}
	for from < to {
		index := from % ring
		end := min(to, from+ring-index)
		do(index, from, end)
		from = end
	}
}

// ImageRow returns the number of positions in a row of an image [C, H, W].
func (l *Layout) ImageRow() int { return max(l.Shape[len(l.Shape)-1], 1) }

// RingRows returns how many rows of an image are stored.
func (l *Layout) RingRows() int { return l.Ring / l.ImageRow() }

// Strides returns, for each axis of the shape, the distance between neighbours in elements.
func (l *Layout) Strides() []int {
	s := RowMajor(l.Shape)
	if !l.Last {
		return s
	}
	s[0] = 1
	for i := 1; i < len(s); i++ {
		s[i] *= l.Channels
	}
	return s
}
