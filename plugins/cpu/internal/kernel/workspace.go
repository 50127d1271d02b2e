package kernel

import "unsafe"

// MemoryBytes returns the size of the memory that w refers to, without w itself.
func (w *Workspace) MemoryBytes() int {
	n := 4 * len(w.staged)
	if w.slab != nil {
		n += int(unsafe.Sizeof(*w.slab)) + cap(w.slab.tiles)*int(unsafe.Sizeof(slabTiles{})) +
			cap(w.slab.segments)*int(unsafe.Sizeof(chainSegment{}))
	}
	return n
}

// MemoryBytes returns the size of the memory that x refers to, without x itself.
func (x *MatrixWorkspace) MemoryBytes() int { return 2*len(x.memory) + 4*cap(x.outside) }

// MemoryBytes returns the size of the memory that w refers to, without w itself.
func (w *Int8Workspace) MemoryBytes() int { return cap(w.staged) + 16*cap(w.pairs) }

// MemoryBytes returns the size of the memory that r refers to, without r itself.
func (r *SumWorkspace) MemoryBytes() int { return 4*len(r.single) + 8*len(r.double) }
