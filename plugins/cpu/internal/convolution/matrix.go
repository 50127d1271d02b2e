package convolution

import (
	"sync"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Matrix units (AMX) multiply tiles of 16 positions by 32 values of bfloat16 with tiles of
// 16 channels. At float32 each operand is the sum of three bfloat16 values that hold its 24
// bits, and the six largest of the nine products are added:
//
// 	x = x1 + x2 + x3      x*w  =  x1w1 + x1w2 + x2w1 + x2w2 + x1w3 + x3w1  + less than 2^-25
// 	    8    8    8 bits
//
// This requires that no part of a value is too large or too small to be represented.
// kernel.Extent checks weights, and MatrixF32 checks positions. Positions that fail are
// computed by windows.

// matrixPack is the weights of a product, in three parts for matrix units, in class amx. If three parts
// cannot represent a value, the windows of the product compute the result.
type matrixPack struct {
	sections []matrixSection
	unused   bool // windows compute everything
	stamp    uint64
	fills    uint64

	mu     sync.Mutex
	direct uint64 // value of the field fills when the weights for windows were packed
}

// matrixSection has the weights of one window, like packSection.
type matrixSection struct {
	matrix *kernel.Matrix
	data   []uint16
	extent kernel.Extent
}

// buildMatrix builds a product by matrix units, at either precision.
func buildMatrix(c *plan.Compiler, g *Geometry, key string, sections func() []packSection, x *run.Value,
	t *filter, y *run.Value) run.Action {
	if c.BF16() {
		return buildDot2(c, g, dot2For(c, t, g.key(key), sections, true), x, t, y)
	}
	p := withMatrix(c, newProduct(packFor(c, t, g.key(key), sections), t), g.key(key))
	return productAction(c, g, p, x, y)
}

// Windows compute the few positions that matrix units do not. The first worker that needs the weights in
// the order for windows packs them.

// withMatrix adds matrix units to a product that does not have them yet.
func withMatrix(c *plan.Compiler, p *product, key string) *product {
	p.matrix = shared(c, p.filter, "matrix "+key, func() *matrixPack {
		m := &matrixPack{}
		for _, section := range p.packed.sections {
			matrix := kernel.NewMatrix(section.window, 3)
			data := plan.ReservePacked[uint16](c, matrix.PackedLen())
			m.sections = append(m.sections, matrixSection{matrix: matrix, data: data})
		}
		return m
	})
	p.atOnce = panelsAtOnce(p.packed.Bytes(), c.Schedule().Weights)
	p.units = p.unitsOf(p.atOnce)
	return p
}

// Bytes returns the memory of the packed weights.
func (m *matrixPack) Bytes() (n int64) {
	for _, section := range m.sections {
		n += int64(2 * len(section.data))
	}
	return n
}

// fill packs the weights of a product unless that has been done since they changed.
func (m *matrixPack) fill(f *run.Frame, p *product) {
	stamp := p.filter.stamp()
	if stamp > 0 && m.stamp == stamp {
		return
	}
	m.unused = false
	for i := range m.sections {
		section, from := &m.sections[i], &p.packed.sections[i]
		extents := make([]kernel.Extent, section.matrix.Panels())
		f.Each(len(extents), func(_ *run.Worker, panel int) {
			extents[panel] = f.Kernels.PackMatrix(section.matrix, panel, section.data, f.F32(p.filter.weight),
				from.offsets,
				from.step, p.filter.factor(f).From(from.out))
		})
		section.extent = kernel.NoExtent()
		for _, e := range extents {
			section.extent = section.extent.Join(e)
		}
		m.unused = m.unused || !section.extent.Splits()
	}
	m.fills++
	m.stamp = stamp
	p.filter.weight.State().Rest()
}

// fillDirect packs the weights in the order for windows. Only few positions need them, so the worker that
// needs them first packs them.
func (m *matrixPack) fillDirect(f *run.Frame, p *product) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.direct == m.fills {
		return
	}
	for i := range p.packed.sections {
		for panel := range p.packed.sections[i].window.Panels() {
			p.packed.sections[i].fill(f, p.filter, panel)
		}
	}
	m.direct = m.fills
}

// panelsAtOnce returns the number of panels in a unit of matrix units. With large units, positions are
// staged less often. With small ones, workers can share heavy weights.
func panelsAtOnce(weights int64, light int) int {
	if weights > int64(light) {
		return 2
	}
	return 8
}

// byMatrix computes positions [from, to) of a unit by matrix units, and positions with
// values out of range by windows.
func (p *product) byMatrix(f *run.Frame, w *run.Worker, u unit, o operands, from, to int) {
	section, windows := &p.matrix.sections[u.section], &p.packed.sections[u.section]
	last := min(u.panel+p.atOnce, section.matrix.Panels())
	if p.matrix.unused {
		p.matrix.fillDirect(f, p)
		p.panels(f, w, u, last, o, from, to)
		return
	}
	apart := f.Kernels.MatrixF32(section.matrix, u.panel, last, o.out[windows.out:], o.in[windows.in:],
		section.data, section.extent, p.biasOf(u), o.end.From(windows.out), from, to, &w.Matrix)
	if len(apart) > 0 {
		p.matrix.fillDirect(f, p)
	}
	for _, q := range apart {
		p.panels(f, w, u, last, o, int(q), int(q)+1)
	}
}

// panels computes positions [from, to) by windows, for the panels from u.panel to last-1.
func (p *product) panels(f *run.Frame, w *run.Worker, u unit, last int, o operands, from, to int) {
	for ; u.panel < last; u.panel++ {
		p.byWindows(f, w, u, p.packed.sections[u.section].window, o, from, to)
	}
}
