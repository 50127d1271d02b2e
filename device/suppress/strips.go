package suppress

import (
	"slices"
	"sync"
)

// strips store the chosen boxes that have an area by their position, because most boxes are
// far apart. The width of all candidates is divided into strips, and a box is stored in
// each strip that its cell touches.
type strips struct {
	cells  []cell // the cell of each candidate that has an area
	low    int32  // left edge of the first strip
	bits   int    // the width of a strip is 1<<bits
	near   [][]neighbour
	broad  []neighbour // boxes that touch more than mostTouched strips
	stored []neighbour
}

// neighbour is a chosen box: its cell and its index.
type neighbour struct {
	cell cell
	box  int32
}

const (
	mostStrips  = 64
	perStrip    = 16 // candidates for each strip, with fewer than mostStrips strips
	mostTouched = 8
)

// pool has strips that are not used, with their memory.
var pool = sync.Pool{New: func() any { return &strips{near: make([][]neighbour, mostStrips)} }}

// newStrips returns empty strips for the candidates. free gives them back.
func newStrips(sorted []int, boxes []Corners) *strips {
	s := pool.Get().(*strips)
	scale := scaleOf(sorted, boxes)
	s.cells = slices.Grow(s.cells[:0], len(sorted))[:len(sorted)]
	low, high := int32(farthestCell), int32(-farthestCell)
	for i, c := range sorted {
		if boxes[c].isSolid() {
			at := cellOf(boxes[c], scale)
			low, high, s.cells[i] = min(low, at[0]), max(high, at[2]), at
		}
	}
	n := max(1, min(mostStrips, len(sorted)/perStrip))
	s.low, s.bits, s.near, s.broad, s.stored = low, 0, s.near[:n], s.broad[:0], s.stored[:0]
	for i := range s.near {
		s.near[i] = s.near[i][:0]
	}
	for int(high-low)>>s.bits >= n {
		s.bits++
	}
	return s
}

// free gives the strips back.
func (s *strips) free() {
	s.near = s.near[:mostStrips]
	pool.Put(s)
}

// touched returns the range of the strips that a cell touches.
func (s *strips) touched(c cell) (from, to int) {
	return int(c[0]-s.low) >> s.bits, int(c[2]-s.low)>>s.bits + 1
}

func (s *strips) add(n neighbour) {
	s.stored = append(s.stored, n)
	from, to := s.touched(n.cell)
	if to-from > mostTouched {
		s.broad = append(s.broad, n)
		return
	}
	for i := range s.near[from:to] {
		s.near[from+i] = append(s.near[from+i], n)
	}
}

// overlap reports whether the overlap of box c, which touches the cells, with one of the kept
// boxes exceeds limit. The overlap is the area in common divided by the area of the union.
// All boxes have an area.
func (s *strips) overlap(c Corners, cells cell, boxes []Corners, limit float32) bool {
	from, to := s.touched(cells)
	if to-from > mostTouched {
		return overlapsAny(c, cells, s.stored, boxes, limit)
	}
	for _, near := range s.near[from:to] {
		if overlapsAny(c, cells, near, boxes, limit) {
			return true
		}
	}
	return overlapsAny(c, cells, s.broad, boxes, limit)
}

// overlapsAny does the same as strips.overlap for some of the kept boxes.
func overlapsAny(b Corners, cells cell, others []neighbour, boxes []Corners, limit float32) bool {
	area := b.area()
	for i := range others {
		o := &others[i].cell
		if (o[2]-cells[0])|(cells[2]-o[0])|(o[3]-cells[1])|(cells[3]-o[1]) < 0 {
			continue
		}
		a := boxes[others[i].box]
		width, height := min(a[2], b[2])-max(a[0], b[0]), min(a[3], b[3])-max(a[1], b[1])
		if !(width > 0) || !(height > 0) {
			continue
		}
		common := float32(width * height)
		if union := float32(a.area()+area) - common; union > 0 && common/union > limit {
			return true
		}
	}
	return false
}
