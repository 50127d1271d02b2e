package kernel

import (
	"fmt"
	"iter"
)

// DepthwiseRows is the geometry of a depthwise convolution along the rows of an
// image [Height][Width][Channels]:
//
//	out[y][x][c] = bias[c] + sum over i, j of in[y*sh-top+i][x*sw-left+j][c] * weights[i][j][c]
//
// The sum is one chain that begins with the bias. The outer loop is over i, the inner one over
// j. Rows outside of the image are left out, columns outside of it count as zeros.
type DepthwiseRows struct {
	Channels             int
	Height, Width        int // size of the image
	OutHeight, OutWidth  int
	Kernel, Stride, Skip [2]int // Skip is the padding above and to the left
	// InRing and OutRing are the rows of ring buffers for an image or a result,
	// with row y at row y mod ring; 0: all rows are in memory.
	InRing, OutRing int

	table []int32   // see tableRow
	zeros []float32 // [Channels]
	cuts  []rowCut  // division of a row into blocks
}

// rowPositions has the possible numbers of positions of a block.
var rowPositions = [...]int{7, 4, 2, 1}

// rowCut is a number of adjacent blocks of the same size in a row.
type rowCut struct {
	x, size int     // the first position, and the size as an index of rowPositions
	blocks  int     // number of blocks
	edges   []int32 // four masks and four offsets for each block, see NewDepthwiseRows
}

// Possible reports whether DepthwiseRows supports the geometry: the kernel is 3 or 5 wide, and at least
// half of it is always inside the image.
func (g *DepthwiseRows) Possible() bool {
	side := g.Kernel[1] / 2
	right := (g.OutWidth-1)*g.Stride[1] - g.Skip[1] + g.Kernel[1] - g.Width
	return (g.Kernel[1] == 3 || g.Kernel[1] == 5) && (g.Stride[1] == 1 || g.Stride[1] == 2) &&
		g.Skip[1] >= 0 && g.Skip[1] <= side && right <= side
}

// NewDepthwiseRows completes a geometry. It panics if the geometry is not Possible.
//
// A block has masks, which are -1 for a column inside the image and 0 for one outside. First come the masks
// of the first Kernel[1]/2 columns that the block reads, then the masks of the last columns. Each of these
// columns also has an offset in bytes. It counts from the nearest column up to this one that has a number
// divisible by four. A column outside has the same offset as some column inside.
func NewDepthwiseRows(g DepthwiseRows) *DepthwiseRows {
	if !g.Possible() || g.Channels < 1 || g.OutHeight < 0 || g.OutWidth < 1 {
		panic(fmt.Sprintf("kernel.NewDepthwiseRows: %+v", g))
	}
	if g.InRing == 0 {
		g.InRing = g.Height
	}
	if g.OutRing == 0 {
		g.OutRing = g.OutHeight
	}
	g.zeros = make([]float32, g.Channels)
	for y := range g.OutHeight {
		g.table = append(g.table, g.tableRow(y)...)
	}
	g.cuts = g.cut()
	return &g
}

// tableRow returns the description of a row of the result for the assembly: its offset, the
// number of rows of the kernel that it reads, and for each of these the offset of the row
// of the image and the number of its first tap. Offsets are in bytes.
func (g *DepthwiseRows) tableRow(y int) []int32 {
	row := make([]int32, 2, g.tableWidth())
	row[0] = int32(4 * (y % g.OutRing) * g.OutWidth * g.Channels)
	for i := range g.Kernel[0] {
		if at := y*g.Stride[0] - g.Skip[0] + i; at >= 0 && at < g.Height {
			row = append(row, int32(4*(at%g.InRing)*g.Width*g.Channels), int32(i*g.Kernel[1]))
			row[1]++
		}
	}
	return row[:cap(row)]
}

// tableWidth returns how many numbers a row of the table has.
func (g *DepthwiseRows) tableWidth() int { return 2 + 2*g.Kernel[0] }

// cut cuts a row into the largest blocks that fit.
func (g *DepthwiseRows) cut() (cuts []rowCut) {
	for x := 0; x < g.OutWidth; {
		i := 0
		for i < len(rowPositions)-1 && !fits(rowPositions[i], rowPositions[i+1], g.OutWidth-x) {
			i++
		}
		if len(cuts) == 0 || cuts[len(cuts)-1].size != i {
			cuts = append(cuts, rowCut{x: x, size: i})
		}
		c := &cuts[len(cuts)-1]
		c.blocks++
		c.edges = append(c.edges, g.edges(x, rowPositions[i])...)
		x += rowPositions[i]
	}
	return cuts
}

// edges returns the masks and offsets of the block of n positions from x on.
func (g *DepthwiseRows) edges(x, n int) []int32 {
	edges := make([]int32, 8)
	masks, offsets := edges[:4], edges[4:]
	side, columns := g.Kernel[1]/2, (n-1)*g.Stride[1]+g.Kernel[1]
	for k := range 2 * side {
		j, inside := k, side
		if k >= side {
			j, inside = columns-2*side+k, columns-side-1
		}
		if column := x*g.Stride[1] - g.Skip[1] + j; column >= 0 && column < g.Width {
			masks[k], inside = -1, j
		}
		offsets[k] = int32(4 * (inside - j/4*4) * g.Channels)
	}
	return edges
}

// DepthwiseColumns returns the columns of weights that DepthwiseRows expects for a number
// of channels, each as its first channel and its number of channels. The last column may
// overlap the previous one, so that it fills a vector.
func (s *Set) DepthwiseColumns(channels int) iter.Seq2[int, int] {
	return func(yield func(first, count int) bool) {
		for p := range s.rowRanges(channels) {
			width := p.width()
			for c := p.first; c < p.first+p.count; c += width {
				if !yield(c, width) {
					return
				}
			}
		}
	}
}

// rowRange is a range of channels that DepthwiseRows processes alike: whole vectors, or the
// channels that do not fill one.
type rowRange struct {
	tiles        *depthwiseRowTiles // nil: the range is computed by the definition
	first, count int
	weights      int // number of channels in earlier ranges, as the weights count them
	fresh        int // the first channel of this range that no earlier range includes
}

// width returns the number of channels of a column.
func (p *rowRange) width() int {
	if p.tiles == nil {
		return p.count
	}
	return p.tiles.lanes
}

// rowRanges returns the ranges for a number of channels. The channels after the last whole vector form a
// vector together with some before them, unless the next narrower vector can hold them.
func (s *Set) rowRanges(channels int) iter.Seq[rowRange] {
	return func(yield func(rowRange) bool) {
		first := 0
		for i := range s.depthwiseRows {
			k, narrower := &s.depthwiseRows[i], 0
			if i+1 < len(s.depthwiseRows) {
				narrower = s.depthwiseRows[i+1].lanes
			}
			if n := (channels - first) / k.lanes * k.lanes; n > 0 {
				if !yield(rowRange{k, first, n, first, first}) {
					return
				}
				first += n
			}
			if channels-first > narrower && channels >= k.lanes {
				yield(rowRange{k, channels - k.lanes, k.lanes, first, first})
				return
			}
		}
		if first < channels {
			yield(rowRange{nil, first, channels - first, first, first})
		}
	}
}

// DepthwiseRows computes rows [from, to) of the result for one image. weights consists of
// consecutive columns, see DepthwiseColumns, each [Kernel[0]][Kernel[1]][channels of the
// column], so that a block reads the weights of its channels from neighbouring cache lines.
// bias is nil or has Channels values.
func (s *Set) DepthwiseRows(g *DepthwiseRows, out, in, weights, bias []float32, e Epilogue, from, to int) {
	result := min(g.OutRing, g.OutHeight) * g.OutWidth * g.Channels
	if len(in) < min(g.InRing, g.Height)*g.Width*g.Channels || len(out) < result || e.lacks(result) ||
		len(weights) < g.Kernel[0]*g.Kernel[1]*g.Channels || bias != nil && len(bias) < g.Channels ||
		from < 0 || to > g.OutHeight {
		panic(fmt.Sprintf("kernel.DepthwiseRows: image of %d values, result of %d, plus %d, weights of %d, "+
			"bias of %d, rows [%d, %d) of %+v", len(in), len(out), len(e.Plus), len(weights), len(bias), from, to, *g))
	}
	if from >= to {
		return
	}
	if bias == nil {
		bias = g.zeros
	}
	for p := range s.rowRanges(g.Channels) {
		c := rowsCall{out, in, weights[p.weights*g.Kernel[0]*g.Kernel[1]:], bias, e, from, to, p}
		if p.tiles != nil && (p.fresh == p.first || e.Plus == nil) { // channels in two ranges would be added twice
			c.vectors(g)
			continue
		}
		for y := from; y < to; y++ {
			for x := range g.OutWidth {
				c.generic(g, y, x, s.fused)
			}
		}
	}
}

// rowsCall is the state of one call of DepthwiseRows: a range of channels, and its weights.
type rowsCall struct {
	out, in, weights, bias []float32
	epilogue               Epilogue
	from, to               int
	channels               rowRange
}

// generic computes the range, which is the last column, at one position. It is the definition in plain Go.
func (r *rowsCall) generic(g *DepthwiseRows, y, x int, fused bool) {
	var some [PanelLanes]float32
	at := (y%g.OutRing*g.OutWidth + x) * g.Channels
	for c := r.channels.fresh; c < g.Channels; c += len(some) {
		sum := some[:copy(some[:], r.bias[c:g.Channels])]
		for t := range g.Kernel[0] * g.Kernel[1] {
			iy := y*g.Stride[0] - g.Skip[0] + t/g.Kernel[1]
			ix := x*g.Stride[1] - g.Skip[1] + t%g.Kernel[1]
			if iy < 0 || iy >= g.Height {
				continue
			}
			pixel := g.zeros
			if ix >= 0 && ix < g.Width {
				pixel = r.in[(iy%g.InRing*g.Width+ix)*g.Channels:]
			}
			multiplyInto(sum, pixel[c:], r.weights[t*r.channels.count+c-r.channels.first:], fused)
		}
		for i, v := range sum {
			r.out[at+c+i] = r.epilogue.applyTo(at+c+i, v)
		}
	}
}

// depthwiseRowTiles is the assembly for the given number of channels. tiles has three indices: half the
// width of the kernel minus 1, the stride minus 1, and an index of rowPositions.
type depthwiseRowTiles struct {
	lanes int
	tiles [2][2][]depthwiseRowTile
}

// depthwiseRowTile computes the blocks of some rows for some vectors of channels. Steps are
// in bytes; wStep is the step from the weights of one vector to the next. shift is the
// offset of the first block's first column from the beginning of a row of the image. ahead
// is the distance from the current data to the data that is prefetched; 0: nothing is
// prefetched.
type depthwiseRowTile func(out, in, w *float32, wStep int, bias, plus, most *float32, rows *int32, rowStep,
	count int, edges *int32, blocks, vectors, pixel, shift, outStep, inStep, ahead int)

// vectorsAtOnce returns the number of vectors of channels that pass through all rows together. It is small
// enough that the rows of the image that the next row of the result reads again stay in the nearest
// cache. It is from two to four, to use whole cache lines.
func (g *DepthwiseRows) vectorsAtOnce() int {
	const bytes, vector = 16 << 10, 64
	return min(max(bytes/(vector*g.Kernel[0]*g.Width), 2), 4)
}

// vectors computes the range, which is whole vectors.
func (r *rowsCall) vectors(g *DepthwiseRows) {
	lanes, end := r.channels.tiles.lanes, r.channels.first+r.channels.count
	for c := r.channels.first; c < end; {
		some := min(g.vectorsAtOnce(), (end-c)/lanes)
		for _, cut := range g.cuts {
			r.blocks(g, cut, c, some)
		}
		c += some * lanes
	}
}

// blocks computes blocks of one size for n vectors of channels from c on.
func (r *rowsCall) blocks(g *DepthwiseRows, cut rowCut, c, n int) {
	k := r.channels.tiles
	pixel, positions, ahead := 4*g.Channels, rowPositions[cut.size], 0
	if g.InRing == g.Height && g.OutRing == g.OutHeight { // otherwise they are in a near cache
		ahead = 4 * n * k.lanes
	}
	at := cut.x*g.Channels + c
	e := r.epilogue
	if e.Plus != nil {
		e.Plus = e.Plus[at:]
	}
	plus, most := e.assembly()
	tile, taps := k.tiles[g.Kernel[1]/2-1][g.Stride[1]-1][cut.size], g.Kernel[0]*g.Kernel[1]
	tile(&r.out[at], &r.in[c], &r.weights[(c-r.channels.first)*taps], 4*k.lanes*taps, &r.bias[c], plus, most,
		&g.table[r.from*g.tableWidth()], 4*g.tableWidth(), r.to-r.from, &cut.edges[0], cut.blocks, n, pixel,
		(cut.x*g.Stride[1]-g.Skip[1])*pixel, positions*pixel, positions*g.Stride[1]*pixel, ahead)
}
