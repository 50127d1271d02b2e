package operations

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// A product of two computed matrices is a window with one tap, like a dense layer. Its right operand is
// packed for every product, a panel of 64 columns at a time, and a transposed left operand is transposed
// first. The work of a row is divided by products and panels:
//
// 	task   product 0, panel 0 | product 0, panel 1 | product 1, panel 0 | ...

// matMulOps has the product of matrices.
var matMulOps = map[graph.Op]plan.Builder{graph.MatMul: buildMatMul}

// matMul computes the products of a node for every unit of its result.
type matMul struct {
	class.Matrices
	a, b, y *run.Value
	kernels *kernel.Set
	window  *kernel.Window
	order   kernel.Order // offsets of the elements of a column of the right operand
	step    int          // distance in values between the columns of the right operand
	round   kernel.Factor
	copies  bool // the left operand is copied first: it is stored transposed, or has to be rounded
}

func buildMatMul(c *plan.Compiler) run.Action {
	m := &matMul{Matrices: class.MatricesOf(c.Graph(), c.Node()), a: c.In(0), b: c.In(1), y: c.Out(0),
		kernels: c.Kernels()}
	if largest := max(m.M*m.K, m.K*m.N, m.M*m.N); largest > math.MaxInt32/4 {
		return c.Refuse("matrices of more than 2 GiB")
	}
	in, out, at := make([]int32, m.M), make([]int32, m.M), make([]int, m.K)
	for i := range in {
		in[i], out[i] = int32(4*i*m.K), int32(4*i*m.N)
	}
	for k := range at {
		at[k] = m.InB(k, 0)
	}
	m.window, m.order, m.step = kernel.NewWindow(in, out, 1, m.K, m.N), kernel.NewOrder(at), 1
	if m.TransposeB {
		m.step = m.K
	}
	m.copies = m.TransposeA
	if c.BF16() {
		m.round = kernel.Factor{Round: c.Kernels()}
		m.copies = m.copies || !c.HoldsBF16(m.a)
	}
	work := len(m.A) * m.M * m.K * m.N / 50
	return run.ByUnit(m.y.Kind, &run.ByRows{Work: max(work, 1), Row: m.unit})
}

// unit divides a unit of the result into pieces parts, and computes the part with index piece.
func (m *matMul) unit(f *run.Frame, w *run.Worker, i, piece, pieces int) {
	a, b := layout.View[float32](f.Unit(m.a, w, m.y.Kind, i)), layout.View[float32](f.Unit(m.b, w, m.y.Kind, i))
	y := layout.View[float32](f.Unit(m.y, w, m.y.Kind, i))
	packed := w.Floats(m.window.PackedLen() + m.copied())
	left := packed[m.window.PackedLen():]
	panels, ready := m.window.Panels(), -1
	tasks := len(m.A) * panels
	for task, end := schedule.RangeOf(piece, pieces, tasks); task < end; task++ {
		product, panel := task/panels, task%panels
		from := a[m.A[product]*m.M*m.K:][:m.M*m.K]
		if m.copies {
			if ready != m.A[product] {
				m.copy(left, from)
				ready = m.A[product]
			}
			from = left
		}
		m.kernels.Pack(m.window, panel, packed, b[m.B[product]*m.K*m.N:][:m.K*m.N], m.order, m.step, m.round)
		m.kernels.Window(m.window, panel, y[product*m.M*m.N:][:m.M*m.N], from, packed, nil, kernel.Epilogue{}, 0,
			m.M, &w.Tile)
	}
}

// copied returns the number of values that a copy of one left matrix needs.
func (m *matMul) copied() int {
	if m.copies {
		return m.M * m.K
	}
	return 0
}

// copy copies the left matrix into the form that the window reads.
func (m *matMul) copy(dst, src []float32) {
	if m.TransposeA {
		m.kernels.Transpose(dst, src, m.K, m.M)
	} else {
		copy(dst, src)
	}
	if m.round.Round != nil {
		m.kernels.RoundBF16(dst)
	}
}
