package convolution

import (
	"sync"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Matrix units (AMX) multiply tiles of 16 positions by 32 values of bfloat16 with tiles of
// 16 channels. At float32 each operand is the sum of three bfloat16 that hold its 24
// bits, and the six largest of the nine products are added:
//
//	x = x1 + x2 + x3      x*w  =  x1w1 + x1w2 + x2w1 + x2w2 + x1w3 + x3w1  + less than 2^-25
//	    8    8    8 bits
//
// That holds while no value is so large or so small that a part of it cannot be
// represented: kernel.Extent says so of weights, MatrixF32 of positions, and those are
// computed by windows.

// matrixPack is the weights of a product, in three parts for matrix units, in
// class amx. What these cannot compute within the precision of float32 is left
// to the windows of the product.
type matrixPack struct {
	parts []matrixPart
	apart bool // all is left to windows
	stamp uint64
	fills uint64

	mu     sync.Mutex
	direct uint64 // the fill for which the weights of the windows were packed
}

// matrixPart is the weights of one window, as packPart is.
type matrixPart struct {
	matrix *kernel.Matrix
	data   []uint16
	extent kernel.Extent
}

// buildMatrix is a product by matrix units, at either precision.
func buildMatrix(c *plan.Compiler, g *Geometry, what string, parts func() []packPart, x *run.Value, t *filter,
	y *run.Value) run.Action {
	if c.BF16() {
		return buildDot2(c, g, dot2For(c, t, g.key(what), parts, true), x, t, y)
	}
	p := withMatrix(c, newProduct(packFor(c, t, g.key(what), parts), t), g.key(what))
	return productAction(c, g, p, x, y)
}

// withMatrix makes matrix units compute a product that has none of its own yet.
func withMatrix(c *plan.Compiler, p *product, key string) *product {
	p.matrix = shared(c, p.filter, "matrix "+key, func() *matrixPack {
		m := &matrixPack{}
		for _, part := range p.parts {
			matrix := kernel.NewMatrix(part.window, 3)
			data := plan.ReservePacked[uint16](c, matrix.PackedLen())
			m.parts = append(m.parts, matrixPart{matrix: matrix, data: data})
		}
		return m
	})
	p.atOnce = panelsAtOnce(p.pack.Bytes(), c.Schedule().Weights)
	p.units = p.unitsOf(p.atOnce)
	return p
}

// Bytes returns the memory of the packed weights.
func (m *matrixPack) Bytes() (n int64) {
	for _, part := range m.parts {
		n += int64(2 * len(part.data))
	}
	return n
}

// fill packs the weights of a product unless that has been done since they changed.
func (m *matrixPack) fill(f *run.Frame, p *product) {
	stamp := p.filter.stamp()
	if stamp > 0 && m.stamp == stamp {
		return
	}
	m.apart = false
	for i := range m.parts {
		part, from := &m.parts[i], &p.parts[i]
		extents := make([]kernel.Extent, part.matrix.Panels())
		f.Each(len(extents), func(_ *run.Worker, panel int) {
			extents[panel] = f.Kernels.PackMatrix(part.matrix, panel, part.data, f.F32(p.weight), from.at,
				from.step, p.factor(f).From(from.out))
		})
		part.extent = kernel.NoExtent()
		for _, e := range extents {
			part.extent = part.extent.Join(e)
		}
		m.apart = m.apart || !part.extent.Splits()
	}
	m.fills++
	m.stamp = stamp
	p.weight.Rest()
}

// fillDirect packs the weights for windows, which few positions need, in the
// worker that needs them first.
func (m *matrixPack) fillDirect(f *run.Frame, p *product) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.direct == m.fills {
		return
	}
	for i := range p.parts {
		for panel := range p.parts[i].window.Panels() {
			p.parts[i].fill(f, p.filter, panel)
		}
	}
	m.direct = m.fills
}

// panelsAtOnce returns how many panels a unit of matrix units has: for each unit
// positions are staged again, but the units of heavy weights are what workers share.
func panelsAtOnce(weights int64, light int) int {
	if weights > int64(light) {
		return 2
	}
	return 8
}

// byMatrix computes positions [from, to) of a unit by matrix units, and those
// that lie apart by windows.
func (p *product) byMatrix(f *run.Frame, w *run.Worker, u unit, o operands, from, to int) {
	part, windows := &p.matrix.parts[u.part], &p.parts[u.part]
	last := min(u.panel+p.atOnce, part.matrix.Panels())
	if p.matrix.apart {
		p.matrix.fillDirect(f, p)
		p.panels(f, w, u, last, o, from, to)
		return
	}
	apart := f.Kernels.MatrixF32(part.matrix, u.panel, last, o.out[windows.out:], o.in[windows.in:],
		part.data, part.extent, p.biasOf(u), o.end.From(windows.out), from, to, &w.Matrix)
	if len(apart) > 0 {
		p.matrix.fillDirect(f, p)
	}
	for _, q := range apart {
		p.panels(f, w, u, last, o, int(q), int(q)+1)
	}
}

// panels computes positions [from, to) of the panels of a unit before last by
// windows.
func (p *product) panels(f *run.Frame, w *run.Worker, u unit, last int, o operands, from, to int) {
	for ; u.panel < last; u.panel++ {
		p.byWindows(f, w, u, p.parts[u.part].window, o, from, to)
	}
}
