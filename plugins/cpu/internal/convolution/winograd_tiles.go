package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// A block of tiles is stored in a worker's memory as follows; from and to count rows of tiles
// over all phases and images, so that small images fill a block together.
//
// 	paddedRows   lines of the image that rows of tiles read, with a border of zeros
// 	v            transformed tiles,  [frequency][tile][C]
// 	m            products of a panel, [frequency][tile][32 output channels]
// 	edge         results of a row of tiles that extend beyond the image: the part inside
// 	             the image is copied, the rest is dropped
// 	lines        results as float32 if they are stored as bfloat16, narrowed at the end

// tiles is a block of rows of tiles, with a worker's memory for it. The rows may belong to several phases
// and images.
type tiles struct {
	k            *winograd
	frame        *run.Frame
	worker       *run.Worker
	tileOperands           // the operands of all images of the block
	from, to     int       // range of rows of tiles
	v, m         []float32 // transformed tiles, products of a panel
	paddedRows   []float32 // rows of a phase, padded
	edge         []float32 // outputs of a row of tiles, some of them beyond the image
	lines        []float32 // outputs of all rows of tiles as float32, if the result is a half
	suspects     []int     // tiles that windows must compute, by index in the block
	sums         []float32 // sums of blocks of two by two pixels: see inspect
	largest      []uint32
}

// newTiles returns a block with the rows of tiles [from, to), counted over all images. o has the operands
// of all images.
func (k *winograd) newTiles(f *run.Frame, w *run.Worker, o tileOperands, from, to int) *tiles {
	t := &scratchOf(w).tiles
	*t = tiles{k: k, frame: f, worker: w, tileOperands: o, from: from, to: to,
		suspects: t.suspects[:0], sums: t.sums, largest: t.largest}
	v, m := k.InLen(t.count()), k.OutLen(t.count())
	padded := (min(to-from, k.rows)*k.Side + 2*k.Border()) * k.paddedStep()
	lines := 0
	if o.out.half != nil {
		lines = (to - from) * k.lineLen()
	}
	workspace := w.Floats(v + m + padded + lines + k.Side*k.edgeStep())
	take := func(n int) (p []float32) {
		p, workspace = workspace[:n], workspace[n:]
		return p
	}
	t.v, t.m, t.paddedRows, t.lines, t.edge = take(v), take(m), take(padded), take(lines), workspace
	return t
}

// lineLen returns the number of output values of a row of tiles.
func (k *winograd) lineLen() int { return k.Side * k.g.ow * k.g.o }

// count returns the number of tiles.
func (t *tiles) count() int { return (t.to - t.from) * t.k.columns }

// paddedStep returns the number of values in a padded row.
func (k *winograd) paddedStep() int { return (k.columns*k.Side + 2*k.Border()) * k.g.c }

// edgeStep returns the number of values in a row of edge.
func (k *winograd) edgeStep() int { return k.columns * k.Side * kernel.WinogradLanes }

// segments calls do for every phase that has rows in the block: with the phase's number, the range [from,
// to) of its rows of tiles, and the index in the block of the first tile.
func (t *tiles) segments(do func(q, from, to, first int)) {
	for r := t.from; r < t.to; {
		from := r % t.k.rows
		to := min(t.k.rows, from+t.to-r)
		do(r/t.k.rows, from, to, (r-t.from)*t.k.columns)
		r += to - from
	}
}

// image returns the operands of the image that phase q belongs to.
func (t *tiles) image(q int) tileOperands { return t.tileOperands.image(t.k, t.k.imageOf(q)) }

// do computes the results of panels [p0, p1) for all tiles of the block.
func (t *tiles) do(p0, p1 int) {
	kernels := t.frame.Kernels
	t.segments(func(q, from, to, first int) {
		t.pad(t.image(q).in, q, from, to)
		t.inspect(from, to, first)
		for y := range to - from {
			r := kernel.Row{At: y * t.k.Side * t.k.paddedStep(), Step: t.k.paddedStep(), Count: t.k.columns}
			kernels.WinogradInput(t.k.Winograd, t.v, first+y*t.k.columns, t.count(), t.paddedRows, r)
		}
	})
	for p := p0; p < p1; p++ {
		kernels.WinogradProduct(t.k.Winograd, p, t.m, t.v, t.k.weights.data, t.count())
		t.segments(func(q, from, to, first int) {
			for y := from; y < to; y++ {
				t.output(p, q, y, first+(y-from)*t.k.columns)
			}
		})
	}
	if t.out.half != nil {
		t.segments(func(q, from, to, first int) { t.store(t.image(q), from, to, first, p0, p1) })
	}
	if len(t.suspects) > 0 {
		t.k.weights.fillDirect(t.frame, t.k.direct)
	}
	for _, tile := range t.suspects {
		t.window(tile, p0, p1)
	}
}

// pad copies the pixels that rows [from, to) of the tiles of phase q read to paddedRows, with zeros around
// them.
func (t *tiles) pad(image stored, q, from, to int) {
	high, width := t.k.size(q)
	border := t.k.Border()
	for y := range (to-from)*t.k.Side + 2*t.k.Border() {
		line := t.paddedRows[y*t.k.paddedStep():][:t.k.paddedStep()]
		source := from*t.k.Side - border + y
		if source < 0 || source >= high {
			clear(line)
			continue
		}
		clear(line[:border*t.k.g.c])
		t.k.sideBySide(q, source, 0, width, func(x, at, count int) {
			image.slice(at*t.k.g.c).widen(t.frame.Kernels, line[(border+x)*t.k.g.c:][:count*t.k.g.c])
		})
		clear(line[(border+width)*t.k.g.c:])
	}
}

// output computes panel p of row y of the tiles of phase q. The row starts at tile first of
// the block. Tiles inside the image are written directly to the result.
func (t *tiles) output(p, q, y, first int) {
	kernels, channel, o := t.frame.Kernels, p*kernel.WinogradLanes, t.image(q)
	width, bias := t.k.PanelWidth(p), t.k.bias[channel:]
	high, columns := t.k.size(q)
	inside, height := columns/t.k.Side, min(t.k.Side, high-y*t.k.Side)
	switch {
	case height <= 0:
		return
	case height < t.k.Side:
		inside = 0
	}
	step := t.k.step()
	at := t.k.position(q, y*t.k.Side, 0)*step + channel
	end := o.end.From(at)
	result := t.resultAt(o, at, first/t.k.columns*t.k.lineLen()+channel)
	if inside > 0 {
		row := kernel.Row{Step: t.k.every * t.k.g.ow * step, Count: inside}
		kernels.WinogradOutput(t.k.Winograd, p, result, row,
			t.k.every*step, t.m, first, t.count(), bias, end)
	}
	if inside == t.k.columns {
		return
	}
	edge := edges{inside: inside * t.k.Side, width: columns, height: height}
	if end.Plus != nil {
		t.eachEdge(edge, func(edge, at int) { copy(t.edge[edge:][:width], end.Plus[at:]) })
		end.Plus = t.edge
	}
	row := kernel.Row{Step: t.k.edgeStep(), Count: t.k.columns - inside}
	kernels.WinogradOutput(t.k.Winograd, p, t.edge, row,
		kernel.WinogradLanes, t.m, first+inside, t.count(), bias, end)
	t.eachEdge(edge, func(edge, at int) { copy(result[at:], t.edge[edge:][:width]) })
}

// edges describes pixels of a row of tiles that are stored in edge but are inside the image: pixels
// [inside, width) of the first height lines.
type edges struct{ inside, width, height int }

// eachEdge calls do for each pixel of e, with its offset in edge and its offset from the first pixel of the
// row in the result.
func (t *tiles) eachEdge(e edges, do func(edge, offset int)) {
	for dy := range e.height {
		for x := e.inside; x < e.width; x++ {
			do(dy*t.k.edgeStep()+(x-e.inside)*kernel.WinogradLanes, (dy*t.k.g.ow+x)*t.k.every*t.k.step())
		}
	}
}

// resultAt returns the result from element start on. If the result is narrowed to bfloat16 later, it returns
// the field lines from element line on instead.
func (t *tiles) resultAt(o tileOperands, start, line int) []float32 {
	if o.out.half != nil {
		return t.lines[line:]
	}
	return o.out.float[start:]
}

// store narrows the outputs of panels [p0, p1) of rows [from, to) of the tiles of
// an image to its result.
func (t *tiles) store(o tileOperands, from, to, first, p0, p1 int) {
	at, n := from*t.k.lineLen(), (min(to*t.k.Side, t.k.g.oh)-from*t.k.Side)*t.k.g.ow*t.k.g.o
	t.k.narrow(o.out.half[at:][:n], t.lines[first/t.k.columns*t.k.lineLen():], p0, p1)
}

// narrow rounds the channels of panels [p0, p1) to bfloat16, for whole pixels.
func (k *winograd) narrow(dst []uint16, src []float32, p0, p1 int) {
	c0, c1 := p0*kernel.WinogradLanes, min(p1*kernel.WinogradLanes, k.g.o)
	if c0 == 0 && c1 == k.g.o {
		k.kernels.NarrowBF16(dst, src)
		return
	}
	for p := 0; p < len(dst); p += k.g.o {
		k.kernels.NarrowBF16(dst[p+c0:p+c1], src[p+c0:])
	}
}

// window computes the outputs of one tile of the block by windows. It computes the channels of panels [p0,
// p1). The panels of direct are larger, so it also computes the other channels in the same panels of
// direct.
func (t *tiles) window(tile, p0, p1 int) {
	r := t.from + tile/t.k.columns
	q, y0, x0 := r/t.k.rows, r%t.k.rows*t.k.Side, tile%t.k.columns*t.k.Side
	o := t.image(q).floats(t.k, t.worker)
	high, width := t.k.size(q)
	for y := y0; y < min(y0+t.k.Side, high); y++ {
		t.k.sideBySide(q, y, x0, min(x0+t.k.Side, width), func(_, from, count int) {
			to := from + count
			for _, u := range t.k.direct.units {
				first := u.panel * kernel.PanelLanes
				if first < p1*kernel.WinogradLanes && first+kernel.PanelLanes > p0*kernel.WinogradLanes {
					t.k.direct.do(t.frame, t.worker, u, t.k.direct.window(u), o, from, to)
				}
			}
			if t.out.half != nil {
				t.k.narrow(t.image(q).out.half[from*t.k.g.o:to*t.k.g.o], o.out[from*t.k.g.o:], p0, p1)
			}
		})
	}
}
