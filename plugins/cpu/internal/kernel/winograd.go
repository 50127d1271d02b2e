package kernel

import (
	"fmt"

	"github.com/bnctl/bnctl/device/class"
)

// Winograd is the geometry of a convolution with stride 1 that is computed tile
// by tile, with one multiplication per pair of channels for each input of the
// tile (class.Tiles). In the transformed space every input of the tile, a
// frequency, is a separate matrix product:
//
//	m[f][tile][o] = sum over c of v[f][tile][c] * u[f][c][o]
//
// The sum consists of blocks of Block() values in order. Each block is one chain
// of fused multiply-adds from +0. The shorter chains save at least the errors
// that the transforms add (docs/numerics.md, section 5).
type Winograd struct {
	class.Tiles
	In, Out int // numbers of channels, which are multiples of Lanes
}

// These are the tiles of the algorithms. The names have the outputs of a tile and the elements of a kernel,
// along one side.
var tiles2x3, tiles4x3, tiles2x5 = class.Winograd2.Tiles(), class.Winograd4.Tiles(), class.Winograd5.Tiles()

// WinogradLanes is the number of output channels of a panel of transformed
// weights; the last panel may have Lanes.
const WinogradLanes = 2 * Lanes

// Frequencies returns the number of values of a transformed tile.
func (g Winograd) Frequencies() int { return g.Tile() * g.Tile() }

// Block returns the number of products in one chain.
func (g Winograd) Block() int { return g.Tiles.Block(g.In) }

// Panels returns the number of panels.
func (g Winograd) Panels() int { return (g.Out + WinogradLanes - 1) / WinogradLanes }

// PanelWidth returns the number of channels of panel i.
func (g Winograd) PanelWidth(i int) int { return min(WinogradLanes, g.Out-i*WinogradLanes) }

// PackedLen returns the number of values of the transformed weights:
// [panel][frequency][In][PanelWidth], one column of channels after the other, and a gap
// after every frequency.
func (g Winograd) PackedLen() int {
	last := g.Panels() - 1
	return g.panelAt(last) + g.Frequencies()*g.weightStep(last)
}

// panelAt returns the offset of the transformed weights of a panel.
func (g Winograd) panelAt(panel int) int { return panel * g.Frequencies() * g.weightStep(0) }

// weightStep returns the distance, in values, between the frequencies of a panel's
// transformed weights.
func (g Winograd) weightStep(panel int) int { return odd(g.In * g.PanelWidth(panel)) }

// TapRows returns the distance between the taps of a panel, in rows of PanelWidth weights:
// one more than In, so that the taps of one channel do not map to one set of a cache.
func (g Winograd) TapRows() int { return g.In + 1 }

// odd rounds a number of values up to an odd number of lanes. Data at distances of this size use all sets
// of a cache.
func odd(n int) int { return (n+Lanes-1)/Lanes/2*2*Lanes + Lanes }

// inSteps returns the distances, in values, between tiles and between
// frequencies of the given number of transformed tiles.
func (g Winograd) inSteps(tiles int) (tile, frequency int) { return odd(g.In), odd(tiles * odd(g.In)) }

// outSteps returns the same distances as inSteps for the products.
func (g Winograd) outSteps(tiles int) (tile, frequency int) {
	return WinogradLanes, odd(tiles * WinogradLanes)
}

// InLen returns the number of values of the given number of transformed tiles.
func (g Winograd) InLen(tiles int) int {
	_, f := g.inSteps(tiles)
	return f * g.Frequencies()
}

// OutLen returns the number of values of the products of one panel for that
// number of tiles.
func (g Winograd) OutLen(tiles int) int {
	_, f := g.outSteps(tiles)
	return f * g.Frequencies()
}

// winogradKernels is the assembly of Winograd.
type winogradKernels struct {
	forms    map[class.Tiles]winogradForm
	products []winogradProducts // widest first
	spread   func(sums *float32, most *uint32, a, b *float32, run, count int)
	// maxAtOnce is the largest number of values of a tile for which one call computes all
	// frequencies. With more, the weights of one frequency stay in the cache for all tiles,
	// and the last tiles prefetch the next weights.
	maxAtOnce int
}

// winogradForm is the assembly for one size of tiles.
type winogradForm struct {
	input func(v *float32, vFreq int, vTile int, in *float32, rowStep int, colStep int, tileStep int,
		tiles int, vectors int)
	output func(out *float32, rowStep int, colStep int, tileStep int, m *float32, mFreq int, mTile int,
		bias *float32, plus *float32, most *float32, tiles int, vectors int)
	weights func(u *float32, uFreq int, taps *float32, tapStep int, count int)
}

// winogradProducts has the micro-kernels for the given number of channels. They process 1, 2, 3 and more
// tiles.
type winogradProducts struct {
	width int
	tiles []winogradProduct
}

type winogradProduct func(m *float32, mTile int, mFreq int, v *float32, vTile int, vFreq int, u *float32,
	uStep int, uFreq int, freqs int, blocks int, length int, ahead int)

// Row is a row of Count neighbouring tiles of an image. It refers to a slice of values:
// the first tile begins at index At, and Step is the distance from one row of the image
// to the next.
type Row struct{ At, Step, Count int }

// need returns the number of values that a slice must have to contain square tiles of pixels of n channels.
// tile is the number of pixels along a side, and side is the distance of the tiles in pixels.
func (r Row) need(tile, side, n, step int) int {
	return r.At + (tile-1)*r.Step + ((r.Count-1)*side+tile-1)*step + n
}

// WinogradWeights fills the range of packed that belongs to a panel from its
// kernels, [Taps()][TapRows()][PanelWidth].
func (s *Set) WinogradWeights(g Winograd, panel int, packed, taps []float32) {
	width, step := g.PanelWidth(panel), g.weightStep(panel)
	tapStep := g.TapRows() * width
	packed, taps = packed[g.panelAt(panel):][:g.Frequencies()*step], taps[:g.Taps()*tapStep]
	if s.winograd == nil {
		g.weightsGeneric(packed, step, taps, tapStep, g.In*width)
		return
	}
	column := s.winograd.column(width)
	for c := 0; c < width; c += column {
		for k := range g.In {
			s.winograd.forms[g.Tiles].weights(&packed[c*g.In+k*column], 4*step, &taps[k*width+c], 4*tapStep, column)
		}
	}
}

// column returns the number of adjacent channels of a panel in transformed weights. It is
// the number of the products' channels, so that they read all weights in storage order.
func (k *winogradKernels) column(width int) int { return min(k.products[0].width, width) }

// WinogradInput transforms a row of tiles of an image that is already padded. v has space for all
// transformed tiles (total is their number), and the row begins at tile number first.
func (s *Set) WinogradInput(g Winograd, v []float32, first, total int, in []float32, r Row) {
	tile, freq := g.inSteps(total)
	if len(v) < g.InLen(total) || first < 0 || first+r.Count > total || r.Count < 1 ||
		r.At < 0 || len(in) < r.need(g.Tile(), g.Side, g.In, g.In) {
		panic(fmt.Sprintf("kernel.WinogradInput: %+v, tiles [%d, %d) of %d in %d values, image of %d values, %+v",
			g, first, first+r.Count, total, len(v), len(in), r))
	}
	v, in = v[first*tile:], in[r.At:]
	if s.winograd != nil {
		s.winograd.forms[g.Tiles].input(&v[0], 4*freq, 4*tile, &in[0], 4*r.Step, 4*g.In, 4*g.In*g.Side, r.Count,
			g.In/Lanes)
		return
	}
	for t := range r.Count {
		g.inputGeneric(v[t*tile:], freq, in[t*g.Side*g.In:], r.Step)
	}
}

// WinogradProduct computes the products of one panel for all tiles.
func (s *Set) WinogradProduct(g Winograd, panel int, m, v, packed []float32, total int) {
	if len(m) < g.OutLen(total) || len(v) < g.InLen(total) || len(packed) < g.PackedLen() || total < 1 {
		panic(fmt.Sprintf("kernel.WinogradProduct: %+v, %d tiles, %d values of tiles, %d of products, %d of "+
			"weights", g, total, len(v), len(m), len(packed)))
	}
	packed = packed[g.panelAt(panel):]
	if s.winograd == nil {
		g.productGeneric(m, v, packed, total, panel)
		return
	}
	calls, freqs, step := 1, g.Frequencies(), g.weightStep(panel)
	if g.In > s.winograd.maxAtOnce {
		calls, freqs = freqs, 1
	}
	_, vFreq := g.inSteps(total)
	_, mFreq := g.outSteps(total)
	for f := range calls {
		choice, width := s.winograd.products, g.PanelWidth(panel)
		for c := 0; c < width; c += choice[0].width {
			for choice[0].width > width-c {
				choice = choice[1:]
			}
			choice[0].run(g, m[f*mFreq+c:], v[f*vFreq:], packed[f*step+g.In*c:], total, step, freqs)
		}
	}
}

// run computes freqs frequencies of one column of channels of a panel, with the tiles in
// chunks of nearly equal size. The weights of frequencies are step values apart.
func (p *winogradProducts) run(g Winograd, m, v, packed []float32, total, step, freqs int) {
	vTile, vFreq := g.inSteps(total)
	mTile, mFreq := g.outSteps(total)
	chunks, next := (total+len(p.tiles)-1)/len(p.tiles), 0
	if freqs == 1 {
		next = 4 * g.In * p.width
	}
	for i := range chunks {
		from, to, ahead := total*i/chunks, total*(i+1)/chunks, 0
		if i == chunks-1 {
			ahead = next
		}
		p.tiles[to-from-1](&m[from*mTile], 4*mTile, 4*mFreq, &v[from*vTile], 4*vTile, 4*vFreq, &packed[0],
			4*p.width, 4*step, freqs, g.In/g.Block(), g.Block(), ahead)
	}
}

// WinogradOutput computes the outputs of a row of tiles, which are the tiles from number first on, of
// all. It adds a bias of PanelWidth values, and applies the epilogue. Outputs begin at the panel's first
// channel, step values from one pixel to the next.
func (s *Set) WinogradOutput(g Winograd, panel int, out []float32, r Row, step int, m []float32, first,
	all int, bias []float32, e Epilogue) {
	tile, freq := g.outSteps(all)
	width := g.PanelWidth(panel)
	need := r.need(g.Side, g.Side, width, step)
	if len(m) < g.OutLen(all) || first < 0 || first+r.Count > all || r.Count < 1 || len(bias) < width ||
		r.At < 0 || len(out) < need || e.lacks(need) {
		panic(fmt.Sprintf("kernel.WinogradOutput: %+v, tiles [%d, %d) of %d in %d values, bias of %d, "+
			"result of %d values, plus %d, %+v", g, first, first+r.Count, all, len(m), len(bias), len(out),
			len(e.Plus), r))
	}
	out, m, e = out[r.At:], m[first*tile:], e.From(r.At)
	if s.winograd != nil {
		plus, most := e.assembly()
		s.winograd.forms[g.Tiles].output(&out[0], 4*r.Step, 4*step, 4*step*g.Side, &m[0], 4*freq, 4*tile, &bias[0],
			plus, most, r.Count, width/Lanes)
		return
	}
	for t := range r.Count {
		at := t * g.Side * step
		g.outputGeneric(out[at:], r.Step, step, m[t*tile:], freq, bias[:width], e.From(at))
	}
}
