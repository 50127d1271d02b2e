package kernel

import "unsafe"

// MatrixScratch is memory of a worker for Matrix; its contents mean nothing
// between calls.
type MatrixScratch struct {
	room  []uint16
	row   []float32
	apart []int32
	sums  [MatrixPositions * PanelLanes]float32
}

// stagedMost is how many bfloat16 should be staged at once: they should stay in
// the cache of a core beside some weights.
const stagedMost = 128 << 10

// stage returns memory for as many positions as should be staged at once, at
// most n, and how many that is: whole MatrixPositions, except at the end.
func (x *MatrixScratch) stage(m Matrix, n int) (staged []uint16, count int) {
	each := m.Steps() * m.Parts * tileValues
	count = min(n, max(1, stagedMost/max(MatrixPositions*each, 1))*MatrixPositions)
	const line = 64 / 2
	want := (count+MatrixPositions-1)/MatrixPositions*MatrixPositions*each + line
	if len(x.room) < want {
		x.room = make([]uint16, want)
	}
	if len(x.row) < m.Steps()*tileValues {
		x.row = make([]float32, m.Steps()*tileValues)
	}
	skip := int(-uintptr(unsafe.Pointer(&x.room[0]))%64) / 2 // tiles lie in whole lines of the cache
	return x.room[skip:], count
}

// stageTiles writes positions [from, to) as kernels read them:
// [Steps][Parts][2 tiles][16 positions][32].
func (s *Set) stageTiles(m Matrix, staged []uint16, in []float32, weights Extent, from, to int, spare *MatrixScratch) {
	row := spare.row[:m.Steps()*tileValues]
	clear(row[m.Taps*m.Run:])
	for i := range MatrixPositions {
		p, at := from+i, i/tileRows*tileLen+i%tileRows*tileValues
		if p >= to {
			if to-from > tileRows || i < tileRows { // or nobody reads it
				m.stageZeros(staged[at:])
			}
			continue
		}
		for t := range m.Taps {
			if o := int(m.In[t*len(m.Out)+p]); o >= 0 {
				copy(row[t*m.Run:], in[o/4:][:m.Run])
			} else {
				clear(row[t*m.Run:][:m.Run])
			}
		}
		if m.Parts == 1 {
			for k := range m.Steps() {
				s.NarrowBF16(staged[at+2*k*tileLen:][:tileValues], row[k*tileValues:][:tileValues])
			}
		} else if !s.split(m, staged[at:], row).suits(weights, len(row)) {
			spare.apart = append(spare.apart, int32(p))
		}
	}
}

// stageZeros writes a position of zeros.
func (m Matrix) stageZeros(staged []uint16) {
	for k := range m.Steps() * m.Parts {
		clear(staged[2*k*tileLen:][:tileValues])
	}
}

// split writes one position in three parts.
func (s *Set) split(m Matrix, staged []uint16, row []float32) Extent {
	if s.matrix == nil {
		return splitGeneric(staged, row)
	}
	extent := noExtent
	if m.Steps() > 0 {
		var lanes [2 * Lanes]uint32
		s.matrix.split(&staged[0], &row[0], m.Steps(), &lanes)
		for i := range Lanes {
			extent.Least = min(extent.Least, lanes[i])
			extent.Most = max(extent.Most, lanes[Lanes+i])
		}
		if extent.Least < noExtent.Least {
			extent.Least++
		}
	}
	return extent
}

// splitGeneric is split: the definition.
func splitGeneric(staged []uint16, row []float32) Extent {
	extent := noExtent
	for k, v := range row {
		extent.add(v)
		for p := range 3 {
			b := bf16(v)
			staged[(k/tileValues*3+p)*2*tileLen+k%tileValues] = b
			v -= widened(b)
		}
	}
	return extent
}
