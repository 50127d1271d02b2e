package kernel

import "unsafe"

// pairsTile computes the given number of register blocks of positions by channels, one after the
// other. The arguments are the arguments of Pairs, from the block's first position and
// channel on. zero is the offset of the run of zeros from in; steps are in bytes.
type pairsTile func(out *byte, outs *int32, in *uint16, zero int, offs *int32, offStep int, taps int,
	pairs int, w *uint16, wStep int, scale *float32, bias *float32, plus *float32, most *float32, as int,
	tiles int)

// These are the ways in which assembly stores results.
const (
	asFloat = iota
	asRounded
	asHalf
)

// storedAs returns how results of type T are stored.
func storedAs[T float32 | uint16](f *ScaledEpilogue) int {
	var result T
	switch {
	case unsafe.Sizeof(result) == 2:
		return asHalf
	case f.Round:
		return asRounded
	}
	return asFloat
}

// asBytes returns the address of a result, for assembly that stores either type.
func asBytes[T float32 | uint16](x *T) *byte { return (*byte)(unsafe.Pointer(x)) }

// pairsTiles are the micro-kernels for the given number of channels; see
// windowTiles.
type pairsTiles struct {
	width int
	tiles []sizedPairs
}

// sizedPairs is the micro-kernel for the given number of positions.
type sizedPairs struct {
	positions int
	tile      pairsTile
}

// pairsCall is the state of one call of Pairs, from its panel on.
type pairsCall[T float32 | uint16] struct {
	*Pairs
	out         []T
	in, weights []uint16
	ScaledEpilogue
	width, real int // number of channels of the panel in memory, and without padding
}

// run walks over the panel: over its channels in steps of a tile's width,
// over the positions in the largest tiles that fit.
func (c *pairsCall[T]) run(choice []pairsTiles, from, to int, spare *Workspace) {
	for first := 0; first < c.real; {
		for choice[0].width > c.width-first {
			choice = choice[1:]
		}
		c.column(choice[0].tiles, first, choice[0].width, from, to, spare)
		first += choice[0].width
	}
}

// column computes positions [from, to) of the channels [first, first+width).
func (c *pairsCall[T]) column(tiles []sizedPairs, first, width, from, to int, spare *Workspace) {
	inside := first+width <= c.real
	for p := from; p < to; {
		i := 0
		for i < len(tiles)-1 && !fits(tiles[i].positions, tiles[i+1].positions, to-p) {
			i++
		}
		n, count := tiles[i].positions, 1
		if !inside {
			c.edge(tiles[i], p, first, spare)
			p += n
			continue
		}
		for i < len(tiles)-1 && fits(n, tiles[i+1].positions, to-p-count*n) {
			count++
		}
		c.call(tiles[i].tile, p, first, asBytes(&c.out[first]), &c.Out[p], c.ScaledEpilogue.channels(first),
			storedAs[T](&c.ScaledEpilogue), count)
		p += count * n
	}
}

// edge computes a tile in which not all channels are used. It copies the values to add to the workspace,
// where the tile also writes its results.
func (c *pairsCall[T]) edge(t sizedPairs, p, first int, spare *Workspace) {
	real, finish := c.real-first, c.ScaledEpilogue.channels(first)
	if finish.Plus != nil {
		plus := finish.Plus
		for j := range t.positions {
			copy(spare.tile[j*PanelLanes:][:real], plus[c.Out[p+j]/4:])
		}
		finish.Plus = spare.tile[:]
	}
	c.call(t.tile, p, first, asBytes(&spare.tile[0]), &spareOffsets[0], finish, storedAs[float32](&finish), 1)
	for j := range t.positions {
		out := c.out[int(c.Out[p+j])/4+first:]
		for i, v := range spare.tile[j*PanelLanes:][:real] {
			store(&out[i], v)
		}
	}
}

// call runs tiles that begin at position p and that channel of the panel.
func (c *pairsCall[T]) call(tile pairsTile, p, channel int, out *byte, outs *int32, f ScaledEpilogue,
	as, tiles int) {
	var offs *int32
	if c.Taps > 0 {
		offs = &c.half[p]
	}
	in := unsafe.SliceData(c.in)
	zero := int(uintptr(unsafe.Pointer(first(c.zeros))) - uintptr(unsafe.Pointer(in)))
	var weights *uint16
	if c.Taps*c.Run > 0 {
		weights = &c.weights[2*channel]
	}
	plus, most := f.assembly()
	tile(out, outs, in, zero, offs, 4*len(c.Out), c.Taps, c.Run/2, weights, 4*c.width, first(f.Scale),
		first(f.Bias), plus, most, as, tiles)
}
