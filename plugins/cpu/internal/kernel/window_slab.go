package kernel

import "fmt"

// Slab describes some positions of some images. They are multiplied by all weights before the next
// positions are. Chains are cut into segments. The inputs of a segment are copied to contiguous memory, its
// weights are read in order, and the sums are stored in the result until the next segment. So distant
// memory is read in order, and once for all channels.
type Slab struct {
	Out, In         []float32 // results and inputs of all images
	OutStep, InStep int       // distance in values between two images
	From, To        int       // range of positions, counted over all images
	Packed, Bias    []float32 // same as in Window
	Untrimmed       []bool    // for each panel: no tap may be left out
	First, Last     int       // range of panels
	Epilogue        Epilogue  // Plus must not be Out
}

// SlabPositions is the maximum number of positions of a Slab.
const SlabPositions = 96

// SlabTile is the number of positions of the largest tile of a slab.
const SlabTile = 6

// slabGap is the gap between the inputs of two positions. The six inputs that a step of a
// tile reads are then in different banks of L1, which can serve two reads at once. Without
// the gap, inputs of whole cache lines would be in the same bank (Zen 4).
const slabGap = 4

// Slabs reports whether the set has kernels for slabs.
func (s *Set) Slabs() bool { return s.resumed() != nil }

// resumed returns the tiles that can continue a chain from a previous segment, or nil if there are none.
// They read one column of weights.
func (s *Set) resumed() *windowTiles {
	for i := range s.window {
		if s.window[i].resumed != nil {
			return &s.window[i]
		}
	}
	return nil
}

// slabTiles are consecutive tiles of one size with the same taps.
type slabTiles struct {
	first, size, count int
	seen               uint64
	begins, ends       int // indices of the first and the last segment that the tiles read
}

// slabWorkspace is a worker's memory for slabs.
type slabWorkspace struct {
	outs, index, offs [SlabPositions]int32 // for each position: result, index in its image, staged run
	images            [SlabPositions]int32
	tiles             []slabTiles
	segments          []chainSegment
}

// WindowSlab computes the results of slab b.
func (s *Set) WindowSlab(w *Window, b *Slab, spare *Workspace) {
	b.check(w)
	if spare.slab == nil {
		spare.slab = new(slabWorkspace)
	}
	if spare.staged == nil {
		spare.staged = make([]float32, stagedLen)
	}
	c := slabCall{Window: w, Slab: b, slabWorkspace: spare.slab, set: s, staged: spare.staged}
	c.locate()
	c.cutTiles()
	for i := range c.segments {
		c.stage(i)
		for panel := b.First; panel < b.Last; panel++ {
			c.panel(i, panel)
		}
	}
	for panel := b.First; panel < b.Last; panel++ {
		c.partialColumn(panel, spare)
	}
}

// check panics unless the slab is consistent with w and its images.
func (b *Slab) check(w *Window) {
	last := (b.To - 1) / max(w.Positions(), 1)
	out, in := last*b.OutStep+w.outNeed, last*b.InStep+w.inNeed
	if b.From < 0 || b.To <= b.From || b.To-b.From > SlabPositions || len(b.Out) < out || len(b.In) < in ||
		len(b.Packed) < w.PackedLen() || b.Bias != nil && len(b.Bias) < w.BiasLen() || b.Epilogue.lacks(out) ||
		len(b.Untrimmed) < w.Panels() || b.First < 0 || b.Last > w.Panels() || w.Taps*w.Run == 0 {
		panic(fmt.Sprintf("kernel.WindowSlab: positions [%d, %d), panels [%d, %d) of %d: results of %d values, "+
			"plus %d, want %d; images of %d, want %d; weights of %d, want %d; %d biases", b.From, b.To, b.First,
			b.Last, w.Panels(), len(b.Out), len(b.Epilogue.Plus), out, len(b.In), in, len(b.Packed), w.PackedLen(),
			len(b.Bias)))
	}
}

// slabCall is the state of one call of Slab.
type slabCall struct {
	*Window
	*Slab
	*slabWorkspace
	set    *Set
	staged []float32
	whole  bool      // at least one panel needs all taps
	next   []float32 // weights to be prefetched
}

// locate computes, for each position of the slab, its image, its index in the image and its result.
func (c *slabCall) locate() {
	for i := range c.To - c.From {
		image, p := (c.From+i)/c.Positions(), (c.From+i)%c.Positions()
		c.images[i], c.index[i] = int32(image), int32(p)
		c.outs[i] = int32(4*(image-c.From/c.Positions())*c.OutStep) + c.Window.Out[p]
	}
}

// cutTiles divides the chains into segments, and the positions into tiles.
func (c *slabCall) cutTiles() {
	c.segments = c.cutChains(c.segments)
	c.tiles = c.tiles[:0]
	c.whole = c.seen == nil
	for panel := c.First; panel < c.Last; panel++ {
		c.whole = c.whole || c.untrimmed(panel)
	}
	n := c.To - c.From
	for i := 0; i < n; {
		size, seen := c.tile(i, n-i)
		if k := len(c.tiles) - 1; k >= 0 && c.tiles[k].size == size && c.tiles[k].seen == seen {
			c.tiles[k].count++
		} else {
			c.tiles = append(c.tiles, c.ends(slabTiles{first: i, size: size, count: 1, seen: seen}))
		}
		i += size
	}
}

// tile returns the size of the register block at position i, and the set of taps that read more than
// padding there. remaining is the number of positions from i on.
func (c *slabCall) tile(i, remaining int) (size int, seen uint64) {
	if c.seen == nil {
		for size = SlabTile; size > 1 && !fits(size, size-1, remaining); size-- {
		}
		return size, ^uint64(0)
	}
	p := int(c.index[i])
	size = min(int(c.tileSize[p]), remaining)
	for _, taps := range c.seen[p : p+size] {
		seen |= taps
	}
	if seen == 0 {
		seen = 1 << (c.Taps - 1)
	}
	return size, seen
}

// ends sets the first and the last segment that tiles read.
func (c *slabCall) ends(t slabTiles) slabTiles {
	t.begins = -1
	for i := range c.segments {
		if c.segments[i].taps()&t.seen != 0 {
			t.ends = i
			if t.begins < 0 {
				t.begins = i
			}
		}
	}
	return t
}

// stage copies the input of a segment into contiguous memory.
func (c *slabCall) stage(i int) {
	s := &c.segments[i]
	run, values := s.k1-s.k0, s.values()
	step := values + slabGap
	for _, t := range c.tiles {
		if !c.whole && s.taps()&t.seen == 0 {
			continue
		}
		for p := t.first; p < t.first+t.size*t.count; p++ {
			to := c.staged[p*step:][:values]
			in := c.Slab.In[int(c.images[p])*c.InStep:]
			c.offs[p] = int32(4 * p * step)
			for tap := s.t0; tap < s.t1; tap++ {
				if o := c.Window.In[tap*c.Positions()+int(c.index[p])]; o >= 0 {
					copy(to[:run], in[int(o)/4+s.k0:])
				} else {
					clear(to[:run])
				}
				to = to[run:]
			}
		}
	}
}

// panel computes segment i for the channels of a panel that fill whole columns.
func (c *slabCall) panel(i, panel int) {
	first, _, real := c.Window.panel(panel)
	s := &c.segments[i]
	whole := c.untrimmed(panel)
	for channel := first; channel+Lanes <= first+real; channel += Lanes {
		c.next = c.weightsBehind(i, channel)
		for k := range c.tiles {
			t := &c.tiles[k]
			if whole {
				c.call(t, i, channel, i == 0, i == len(c.segments)-1, false)
			} else if s.taps()&t.seen != 0 {
				skips := i+1 < len(c.segments) && c.segments[i+1].taps()&t.seen == 0
				c.call(t, i, channel, i == t.begins, i == t.ends, skips)
			}
		}
	}
}

// weightsOf returns the weights of segment i of the column that begins with channel.
func (c *slabCall) weightsOf(i, channel int) []float32 {
	s, first := &c.segments[i], channel/PanelLanes*PanelLanes
	return c.Window.Packed(c.Slab.Packed, channel/PanelLanes)[(channel-first)*c.Taps*c.Run+
		(s.t0*c.Run+s.k0)*Lanes:][:s.values()*Lanes]
}

// weightsBehind returns the weights that are needed after weightsOf(i, channel), or nil if there are none.
func (c *slabCall) weightsBehind(i, channel int) []float32 {
	switch {
	case channel+Lanes < min(c.Last*PanelLanes, c.Width):
		return c.weightsOf(i, channel+Lanes)
	case i+1 < len(c.segments):
		return c.weightsOf(i+1, c.First*PanelLanes)
	}
	return nil
}

// untrimmed reports whether no tap may be left out of a panel: see windowCall.trims.
func (c *slabCall) untrimmed(panel int) bool {
	first, _, real := c.Window.panel(panel)
	return c.seen == nil || c.Untrimmed[panel] || c.Bias != nil && hasNegativeZero(c.Bias[first:first+real])
}

// call computes segment i of tiles, for 16 channels. If the tiles skip the next segment (skips), call adds
// +0 to the sums, which has the same effect as computing that segment.
func (c *slabCall) call(t *slabTiles, i, channel int, begins, ends, skips bool) {
	s, k := &c.segments[i], SlabTile-t.size
	var bias, plus, most *float32
	if skips {
		bias = &noBias[0]
	}
	at := c.From/c.Positions()*c.OutStep + channel
	if ends {
		if c.Bias != nil {
			bias = &c.Bias[channel]
		}
		e := c.Epilogue.From(at)
		plus, most = e.assembly()
	}
	choice := c.set.resumed()
	tile, turns := choice.tiles[k].tile, choice.turns(c.next, t.count*s.values())
	if !begins {
		tile = choice.resumed[k]
	}
	tile(&c.Slab.Out[at], &c.outs[t.first], &c.staged[0], 0, &c.offs[t.first], 0, 1, s.values(),
		&c.weightsOf(i, channel)[0], 4*Lanes, 0, bias, plus, most, 0, first(c.next), turns, t.count)
	c.next = c.next[turns*choice.turn:]
}

// partialColumn computes the channels of a panel that do not fill a column, as Window does.
func (c *slabCall) partialColumn(panel int, spare *Workspace) {
	first, width, real := c.Window.panel(panel)
	if real%Lanes == 0 {
		return
	}
	w := c.Window
	if c.Untrimmed[panel] {
		w = w.Whole()
	}
	for q := c.From; q < c.To; {
		image, p := q/c.Positions(), q%c.Positions()
		to := min(c.Positions(), p+c.To-q)
		at := image*c.OutStep + first
		call := windowCall{out: c.Slab.Out[at:], in: c.Slab.In[image*c.InStep:],
			weights: c.Window.Packed(c.Slab.Packed, panel), bias: c.Bias, epilogue: c.Epilogue.From(at),
			width: width, real: real, side: c.set.column(width), from: p, to: to}
		if c.Bias != nil {
			call.bias = c.Bias[first:]
		}
		call.trimmed = call.trims(w)
		whole := real / Lanes * Lanes
		call.column(w, tilesFor(c.set.window, width-whole, real-whole), whole, spare)
		q += to - p
	}
}
