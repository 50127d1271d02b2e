package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// tiles is a block of rows of tiles, which may reach over several images, and
// a worker's memory for it.
type tiles struct {
	*winograd
	frame    *frame
	worker   *worker
	operands           // from the first image on
	from, to int       // rows of tiles
	v, m     []float32 // transformed tiles, products of a panel
	strip    []float32 // rows of an image, padded
	edge     []float32 // outputs of a row of tiles, some of them beyond the image
	suspects []int     // tiles whose values lie too far apart, by place in the block
	sums     []float32 // of blocks of an image: see inspect
	most     []uint32
}

// newTiles returns the rows of tiles [from, to) of images whose operands begin
// with those of the first.
func (k *winograd) newTiles(f *frame, w *worker, o operands, from, to int) *tiles {
	t := &w.tiles
	*t = tiles{winograd: k, frame: f, worker: w, operands: o, from: from, to: to,
		suspects: t.suspects[:0], sums: t.sums, most: t.most}
	v, m := k.InLen(t.count()), k.OutLen(t.count())
	strip := (min(to-from, k.rows)*k.Side + 2) * k.stripStep()
	room := w.floats(v + m + strip + k.Side*k.edgeStep())
	t.v, t.m, t.strip, t.edge = room[:v], room[v:v+m], room[v+m:v+m+strip], room[v+m+strip:]
	return t
}

// count returns the number of tiles.
func (t *tiles) count() int { return (t.to - t.from) * t.columns }

// stripStep returns the values of a row of a strip.
func (k *winograd) stripStep() int { return (k.columns*k.Side + 2) * k.c }

// edgeStep returns the values of a row of edge.
func (k *winograd) edgeStep() int { return k.columns * k.Side * kernel.WinogradLanes }

// segments calls do for every image that the block has rows of: its number,
// rows [from, to) of its tiles, and the first tile's place in the block.
func (t *tiles) segments(do func(i, from, to, first int)) {
	for r := t.from; r < t.to; {
		from := r % t.rows
		to := min(t.rows, from+t.to-r)
		do(r/t.rows, from, to, (r-t.from)*t.columns)
		r += to - from
	}
}

// image returns the operands of image i.
func (t *tiles) image(i int) operands { return t.operands.row(i, t.c*t.h*t.w, t.o*t.oh*t.ow) }

// do computes panels [p0, p1) of the block.
func (t *tiles) do(p0, p1 int) {
	kernels := t.frame.exe.device.kernels
	t.segments(func(i, from, to, first int) {
		in := t.image(i).in
		t.inspect(in, from, to, first)
		t.pad(in, from, to)
		for y := range to - from {
			r := kernel.Row{At: y * t.Side * t.stripStep(), Step: t.stripStep(), Count: t.columns}
			kernels.WinogradInput(t.Winograd, t.v, first+y*t.columns, t.count(), t.strip, r)
		}
	})
	for p := p0; p < p1; p++ {
		kernels.WinogradProduct(t.Winograd, p, t.m, t.v, t.weights.data, t.count())
		t.segments(func(i, from, to, first int) {
			for y := from; y < to; y++ {
				t.output(p, t.image(i), y, first+(y-from)*t.columns)
			}
		})
	}
	if len(t.suspects) > 0 {
		t.weights.fillDirect(t.frame, t.direct)
	}
	for _, tile := range t.suspects {
		t.window(tile, p0, p1)
	}
}

// pad copies what rows [from, to) of the tiles see to the strip, with zeros
// around the image.
func (t *tiles) pad(image []float32, from, to int) {
	row := t.w * t.c
	for y := range (to-from)*t.Side + 2 {
		line := t.strip[y*t.stripStep():][:t.stripStep()]
		source := from*t.Side - 1 + y
		if source < 0 || source >= t.h {
			clear(line)
			continue
		}
		clear(line[:t.c])
		copy(line[t.c:], image[source*row:(source+1)*row])
		clear(line[t.c+row:])
	}
}

// output computes panel p of row y of the tiles, the first of which is tile
// first of the block: straight into the result where tiles lie inside the image.
func (t *tiles) output(p int, o operands, y, first int) {
	kernels, channel := t.frame.exe.device.kernels, p*kernel.WinogradLanes
	width, bias := t.PanelWidth(p), t.bias[channel:]
	inside, height := t.ow/t.Side, min(t.Side, t.oh-y*t.Side)
	if height < t.Side {
		inside = 0
	}
	at := y*t.Side*t.ow*t.o + channel
	result, end := o.out[at:], o.end.From(at)
	if inside > 0 {
		kernels.WinogradOutput(t.Winograd, p, result, kernel.Row{Step: t.ow * t.o, Count: inside}, t.o, t.m,
			first, t.count(), bias, end)
	}
	if inside == t.columns {
		return
	}
	if end.Plus != nil {
		t.eachEdge(inside, height, func(edge, at int) { copy(t.edge[edge:][:width], end.Plus[at:]) })
		end.Plus = t.edge
	}
	kernels.WinogradOutput(t.Winograd, p, t.edge, kernel.Row{Step: t.edgeStep(), Count: t.columns - inside},
		kernel.WinogradLanes, t.m, first+inside, t.count(), bias, end)
	t.eachEdge(inside, height, func(edge, at int) { copy(result[at:], t.edge[edge:][:width]) })
}

// eachEdge calls do for every pixel of a row of tiles that edge holds and that
// lies in the image: where it lies in edge, and how far behind the first pixel
// of the row in the result. Whole tiles before column inside do not go there.
func (t *tiles) eachEdge(inside, height int, do func(edge, at int)) {
	for dy := range height {
		for x := inside * t.Side; x < t.ow; x++ {
			do(dy*t.edgeStep()+(x-inside*t.Side)*kernel.WinogradLanes, (dy*t.ow+x)*t.o)
		}
	}
}

// window computes the outputs of a tile of the block by windows: channels of
// panels [p0, p1), in whole panels of theirs.
func (t *tiles) window(tile, p0, p1 int) {
	r := t.from + tile/t.columns
	i, y0, x0 := r/t.rows, r%t.rows*t.Side, tile%t.columns*t.Side
	for _, u := range t.direct.units {
		first := u.panel * kernel.PanelLanes
		if first >= p1*kernel.WinogradLanes || first+kernel.PanelLanes <= p0*kernel.WinogradLanes {
			continue
		}
		for y := y0; y < min(y0+t.Side, t.oh); y++ {
			t.direct.do(t.frame, t.worker, u, t.direct.parts[0].window, t.image(i), y*t.ow+x0,
				y*t.ow+min(x0+t.Side, t.ow))
		}
	}
}
