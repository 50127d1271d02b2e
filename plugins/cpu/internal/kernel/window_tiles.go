package kernel

import "unsafe"

// windowTile computes the given number of register blocks of positions by channels, one after
// the other. The arguments are the arguments of Window, from the block's first position and
// channel on. zero is the offset of the run of zeros from in; steps are in bytes; plus and
// most are the results of Epilogue.assembly. last is the mask of the last vector of
// channels, see windowTiles. column is the distance between columns of weights in bytes. Meanwhile
// memory from next on is prefetched in pieces, as many as turns: see windowTiles.turn.
type windowTile func(out *float32, outs *int32, in *float32, zero int, offs *int32, offStep int,
	taps int, run int, w *float32, wStep int, column int, bias *float32, plus *float32, most *float32, last int,
	next *float32, turns int, tiles int)

// windowTiles are the micro-kernels for the given number of channels, those with the
// most positions first. A set has several windowTiles, the widest first; the
// narrowest have at most Lanes channels.
type windowTiles struct {
	width  int
	masked bool // the tiles can leave out the last channels
	spread bool // the tiles read two columns of weights, or one and a part of the second
	turn   int  // values that are prefetched at each turn of the loop; may be 0
	tiles  []sizedWindow
	// resumed are the same tiles with chains that continue from the values in the result;
	// nil: chains cannot be cut.
	resumed []windowTile
}

// sizedWindow is the micro-kernel for the given number of positions.
type sizedWindow struct {
	positions int
	tile      windowTile
}

// windowCall is the state of one call of Window, from its panel on.
type windowCall struct {
	out, in, weights, bias []float32
	epilogue               Epilogue
	width, real            int // number of channels of the panel in memory, and without padding
	side                   int // number of channels that are adjacent in weights: Set.column
	from, to               int
	next                   []float32 // weights to be prefetched, see Workspace
	trimmed                bool      // some taps are left out
	taps                   hull      // range of taps to compute
}

// run walks over the panel: over its channels in steps of a tile's width,
// over the positions in the largest tiles that fit.
func (c *windowCall) run(w *Window, choice []windowTiles, spare *Workspace) {
	for first := 0; first < c.real; {
		tiles := tilesFor(choice, c.width-first, c.real-first)
		c.column(w, tiles, first, spare)
		first += tiles.width
	}
}

// tilesFor returns the tiles with the fewest channels that compute all real channels at once. They must
// read only channels that exist in memory. If there are none, it returns the tiles with the most channels
// that exist in memory. Tiles that read two columns of weights are used only for whole columns.
func tilesFor(choice []windowTiles, width, real int) *windowTiles {
	best := len(choice) - 1
	for i := best; i >= 0 && padded(choice[i].width) <= width; i-- {
		if choice[i].spread && choice[i].width > real {
			break
		}
		best = i
		if choice[i].width >= real {
			break
		}
	}
	return &choice[best]
}

// column computes all positions of a column with the given tiles; first is its first channel. Unless next
// is already set, it becomes the weights after the weights of the column.
func (c *windowCall) column(w *Window, choice *windowTiles, first int, spare *Workspace) {
	tiles := choice.tiles
	if len(c.next) == 0 && choice.width == c.side {
		n := w.Taps * w.Run
		c.next = c.weights[min((first+c.side)*n, len(c.weights)):]
		c.next = c.next[:min(c.side*n, len(c.next))]
	}
	for p := c.from; p < c.to; {
		i := 0
		for i < len(tiles)-1 && !fits(tiles[i].positions, tiles[i+1].positions, c.to-p) {
			i++
		}
		count, n := 1, tiles[i].positions
		c.taps = c.tapsOf(w, p, n)
		if first+choice.width <= c.real || choice.masked {
			for i < len(tiles)-1 && fits(n, tiles[i+1].positions, c.to-p-count*n) &&
				(!c.trimmed || c.tapsOf(w, p+count*n, n) == c.taps) {
				count++
			}
			c.call(w, choice, i, p, first, &c.out[first], &w.Out[p], c.epilogue.From(first), count,
				first+choice.width)
		} else {
			c.call(w, choice, i, p, first, &spare.tile[0], &spareOffsets[0], Epilogue{}, 1, c.real)
			for j := range n {
				at := int(w.Out[p+j])/4 + first
				for k, v := range spare.tile[j*PanelLanes:][:c.real-first] {
					c.out[at+k] = c.epilogue.applyTo(at+k, v)
				}
			}
		}
		p += count * n
	}
}

// fits reports whether to use a register block of n positions if some positions remain. next is the size of
// the next smaller block. n must be remaining, or all of this must hold: n is less than remaining, remaining
// is not exactly two blocks of size next, and if next is n-1, the same number of blocks of size next would
// not be enough.
func fits(n, next, remaining int) bool {
	return n == remaining || n < remaining && remaining != 2*next && (next != n-1 ||
		(remaining+n-1)/n*next < remaining)
}

// spareOffsets are the offsets of the results of a tile that are first written to a Workspace.
var spareOffsets = func() (o [WindowPositions]int32) {
	for p := range o {
		o[p] = int32(p * PanelLanes * 4)
	}
	return o
}()

// call runs tiles of size i. They begin at position p and at the given channel of the panel, and end before
// channel end.
func (c *windowCall) call(w *Window, choice *windowTiles, i, p, channel int, out *float32, outs *int32,
	e Epilogue, tiles, end int) {
	var bias *float32
	switch {
	case c.bias != nil:
		bias = &c.bias[channel]
	case int(c.taps.to) < w.Taps:
		bias = &noBias[channel]
	}
	t, taps := int(c.taps.from), int(c.taps.to-c.taps.from)
	var offs *int32
	if taps > 0 {
		offs = &w.In[t*len(w.Out)+p]
	}
	in := first(c.in)
	zero := int(uintptr(unsafe.Pointer(first(w.zeros))) - uintptr(unsafe.Pointer(in)))
	var weights *float32
	if taps*w.Run > 0 {
		before := channel / c.side * c.side
		weights = &c.weights[w.Run*(w.Taps*before+t*c.side)+channel-before]
	}
	plus, most := e.assembly()
	turns := choice.turns(c.next, tiles*taps*w.Run)
	choice.tiles[i].tile(out, outs, in, zero, offs, 4*len(w.Out), taps, w.Run, weights, 4*c.side,
		4*c.side*w.Taps*w.Run, bias, plus, most, choice.last(end-c.real), first(c.next), turns, tiles)
	c.next = c.next[turns*choice.turn:]
}

// turns returns how many pieces of next the register blocks can prefetch while they multiply the given
// number of values.
func (t *windowTiles) turns(next []float32, values int) int {
	const unroll = 4 // number of values that one turn multiplies
	if t.turn == 0 {
		return 0
	}
	return min(len(next)/t.turn, values/unroll)
}

// last returns the mask of the last vector of channels of a tile. nothing is the number of unused channels.
func (t *windowTiles) last(nothing int) int {
	vector := t.width - (t.width-1)/Lanes*Lanes
	return 1<<min(vector, vector-nothing) - 1
}
