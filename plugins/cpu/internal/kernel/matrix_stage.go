package kernel

import "unsafe"

// MatrixWorkspace is a worker's memory for MatrixBF16 and MatrixF32. Its contents are
// undefined between calls.
type MatrixWorkspace struct {
	memory  []uint16
	aligned []uint16 // staged positions, aligned to a cache line
	outside []int32  // positions with values out of range
	sums    [MatrixPositions * PanelLanes]float32
}

// stagedMost is the approximate number of bfloat16 values that are staged at once. They should stay in
// the cache of a core together with some weights.
const stagedMost = 128 << 10

// stage allocates memory for the positions that should be staged at once, and returns their number: n, or
// if that is too large, a multiple of MatrixPositions. They are staged as [blocks of
// MatrixPositions][Steps][Terms][2 tiles][16][32].
func (x *MatrixWorkspace) stage(m *Matrix, n int) int {
	const line = 64 / 2
	block := m.Steps() * m.Terms * tileValues * MatrixPositions
	blocks := min((n+MatrixPositions-1)/MatrixPositions, max(1, stagedMost/max(block, 1)))
	if len(x.memory) < blocks*block+line {
		x.memory = make([]uint16, blocks*block+line)
	}
	x.aligned = x.memory[int(-uintptr(unsafe.Pointer(&x.memory[0]))%64)/2:]
	return min(n, blocks*MatrixPositions)
}

// gather stages positions [from, to) of an image of bfloat16. There are at most MatrixPositions of
// them.
func (s *Set) gather(m *Matrix, staged, in []uint16, from, to int) {
	if s.matrix != nil && m.Taps > 0 {
		for p := from; p < to; p += tileRows {
			s.matrix.gather(&staged[(p-from)*tileValues], firstOf(in), &m.In[p], 4*len(m.Out), m.Taps,
				m.Run/tileValues, min(to-p, tileRows))
		}
		return
	}
	for p := from; p < to; p++ {
		row := staged[stagedAt(p-from):]
		for t := range m.Taps {
			for k := 0; k < m.Run; k += tileValues {
				line := row[(t*m.Run+k)/tileValues*2*tileLen:][:tileValues]
				if o := int(m.In[t*len(m.Out)+p]); o >= 0 {
					copy(line, in[o/4+k:])
				} else {
					clear(line)
				}
			}
		}
	}
}

// firstOf returns the address of the first element, or nil.
func firstOf(x []uint16) *uint16 { return unsafe.SliceData(x) }

// stagedAt returns the offset of position i in a block.
func stagedAt(i int) int { return i/tileRows*tileLen + i%tileRows*tileValues }

// split stages positions [from, to), at most MatrixPositions, as three terms, and records
// positions with values out of range.
func (s *Set) split(m *Matrix, staged []uint16, in []float32, weights Extent, from, to int,
	spare *MatrixWorkspace) {
	for p := from; p < to; p++ {
		lanes := noLanes
		for t := range m.Taps {
			x := m.zeros
			if o := int(m.In[t*len(m.Out)+p]); o >= 0 {
				x = in[o/4:]
			}
			s.splitRow(staged[stagedAt(p-from)+t*m.Run/tileValues*3*2*tileLen:], x[:m.Run], &lanes)
		}
		if !lanes.extent().suits(weights, m.Taps*m.Run) {
			spare.outside = append(spare.outside, int32(p))
		}
	}
}

// splitRow splits values into three terms, 32 at a time.
func (s *Set) splitRow(staged []uint16, x []float32, lanes *extentLanes) {
	if s.matrix != nil {
		s.matrix.split(&staged[0], &x[0], len(x)/tileValues, (*[2 * Lanes]uint32)(lanes))
	} else {
		splitGeneric(staged, x, lanes)
	}
}

// splitGeneric splits values into three terms, 32 at a time. It is the definition in plain Go.
func splitGeneric(staged []uint16, x []float32, lanes *extentLanes) {
	for k, v := range x {
		lanes.add(k%Lanes, v)
		for p := range 3 {
			b := bf16(v)
			staged[(k/tileValues*3+p)*2*tileLen+k%tileValues] = b
			v -= widened(b)
		}
	}
}
