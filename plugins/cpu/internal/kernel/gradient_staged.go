package kernel

import "unsafe"

// stagedGradient is the assembly of Gradient for operands that are first copied to contiguous memory:
// channels in columns of 16, and values of runs in groups of 6. Values that are far apart in an image and
// read by every tile are then read in order, from the nearest caches.
type stagedGradient struct {
	values func(dst *float32, dstStep int, in *float32, zero int, offs *int32, masks *int32, tiles int,
		count int)
	channels func(dst *float32, dstStep int, grad *float32, grads *int32, columns int, count int)
	tiles    [stagedValues]stagedTile // assembly for tiles of 1, 2, ... values
}

// stagedTile adds the products of count positions to several tiles of sums (register blocks), one after the
// other.
type stagedTile func(sum *float32, sumStep int, x *float32, xStep int, grad *float32, count int, tiles int)

const (
	stagedValues    = 6   // values of a run that are stored together
	stagedVector    = 8   // size of the memory for stagedValues values
	stagedPositions = 256 // maximum number of positions that are copied to contiguous memory at a time
	stagedRun       = 96  // maximum number of values of a run that are copied at a time
)

// stagedLen is the size of a worker's memory for staged operands, either of Gradient or of a Slab.
const stagedLen = max(stagedPositions*(PanelLanes+stagedRun/stagedValues*stagedVector),
	SlabPositions*(slabValues+slabGap))

// pays reports whether copying operands next to each other costs little compared with the products.
func (c *gradientCall) pays() bool {
	return c.width >= 2*Lanes && c.k1-c.k0 >= 2*stagedValues && c.to-c.from >= 2*stagedVector
}

// staged does the same as run, with values that are first copied to contiguous memory.
func (c *gradientCall) staged(w *Window, s *stagedGradient, tap int, spare *Workspace) {
	if spare.staged == nil {
		spare.staged = make([]float32, stagedLen)
	}
	grads, values := spare.staged[:stagedPositions*PanelLanes], spare.staged[stagedPositions*PanelLanes:]
	chunks := (c.to - c.from + stagedPositions - 1) / stagedPositions
	for i := range chunks {
		from, to := c.from+(c.to-c.from)*i/chunks, c.from+(c.to-c.from)*(i+1)/chunks
		n := to - from
		s.channels(&grads[0], 4*Lanes*n, &c.grad[0], &w.Out[from], c.width/Lanes, n)
		for k0 := c.k0; k0 < c.k1; k0 += stagedRun {
			k1 := min(k0+stagedRun, c.k1)
			last := (k1-k0-1)%stagedValues + 1
			tiles := (k1 - k0 - last) / stagedValues
			in := unsafe.Add(unsafe.Pointer(first(c.in)), 4*k0)
			zero := int(uintptr(unsafe.Pointer(first(w.zeros))) - uintptr(in))
			s.values(&values[0], 4*stagedVector*n, (*float32)(in), zero, &w.In[tap*len(w.Out)+from],
				&stagedMasks[last-1][0], tiles+1, n)
			for c0 := 0; c0 < c.width; c0 += Lanes {
				sum := c.sums[(k0-c.k0)*c.width+c0:]
				if tiles > 0 {
					s.tiles[stagedValues-1](&sum[0], 4*c.width, &values[0], 4*stagedVector*n, &grads[c0*n], n, tiles)
				}
				s.tiles[last-1](&sum[tiles*stagedValues*c.width], 4*c.width, &values[tiles*stagedVector*n],
					4*stagedVector*n, &grads[c0*n], n, 1)
			}
		}
	}
}

// stagedMasks has two masks for each number of values in the last tile: one for all other tiles, and one
// for the last.
var stagedMasks = func() (masks [stagedValues][2 * stagedVector]int32) {
	for n := range masks {
		for i := range stagedValues {
			masks[n][i] = -1
			if i <= n {
				masks[n][stagedVector+i] = -1
			}
		}
	}
	return masks
}()
