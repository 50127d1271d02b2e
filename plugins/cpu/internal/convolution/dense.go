package convolution

import (
	"fmt"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// A dense product has no positions. The rows of the batch are used as the positions of
// a window with one tap, 48 at a time, so that weights are read once for that many rows.
//
// 	         K                     N
// 	row 0  [ x ]
// 	row 1  [ x ]     *     K  [ weights ]       task: 48 rows, one panel of 64 columns
// 	...    [ x ]
// 	row 47 [ x ]
//
// An input with leading axes has positions. The product is then a 1 by 1 convolution over images with the
// same layout.

// denseRows is the number of rows of a dense product that are used as the positions of a
// window.
const denseRows = 48

// denseWindows has windows for products of rows of k values with a matrix. The matrix has width columns,
// and a window computes lanes of them. There is a window for each requested number of rows.
type denseWindows struct {
	k, width, lanes int

	byRows [denseRows + 1]*kernel.Window
	pairs  [denseRows + 1]*kernel.Pairs
}

// denseWindowsOf returns windows that compute all columns.
func denseWindowsOf(k, width int) *denseWindows {
	return &denseWindows{k: k, width: width, lanes: width}
}

// pairsOf returns the window of n rows in the form for products by pairs of bfloat16.
func (d *denseWindows) pairsOf(n int) *kernel.Pairs {
	if d.pairs[n] == nil {
		d.pairs[n] = kernel.NewPairs(d.rows(n))
	}
	return d.pairs[n]
}

// rows returns the window for products of n rows.
func (d *denseWindows) rows(n int) *kernel.Window {
	if d.byRows[n] == nil {
		in, out := make([]int32, n), make([]int32, n)
		for p := range n {
			in[p], out[p] = int32(4*p*d.k), int32(4*p*d.width)
		}
		d.byRows[n] = kernel.NewWindow(in, out, 1, d.k, d.lanes)
	}
	return d.byRows[n]
}

// prepare makes all windows that a product of the given number of rows needs, before workers use them.
func (d *denseWindows) prepare(total int) {
	d.rows(min(denseRows, total))
	d.rows(total % denseRows)
}

// mostDense is the maximum length of a row. Offsets of longer rows might not fit into four bytes.
const mostDense = 1 << 22

// dense returns the product of rows of in and the matrix with element (k, c) at
// weight[k*stepK + c*stepC].
func dense(c *plan.Compiler, key string, in *run.Value, t *filter, out *run.Value,
	stepK, stepC int) run.Action {
	k, width := in.Count, out.Count
	if max(k, width) > mostDense {
		return c.Refuse(fmt.Sprintf("rows of more than %d values", mostDense))
	}
	windows := denseWindowsOf(k, width)
	sections := func() []packSection {
		offsets := make([]int, k)
		for i := range offsets {
			offsets[i] = i * stepK
		}
		return []packSection{{window: windows.rows(1), offsets: offsets, step: stepC}}
	}
	if choose(c) == class.Dot2 {
		return denseDot2(c, dot2For(c, t, key, sections, false), windows, in, t, out)
	}
	p := newProduct(packFor(c, t, key, sections), t)
	in, round := c.Operand(in)
	rows := rowsOf(c, in, out)
	once := newDenseOnce(p, windows)
	return run.Whole(func(f *run.Frame) error {
		round(f)
		if once.suits(f) {
			once.apply(f, rows(f))
		} else {
			p.applyDense(f, windows, rows(f))
		}
		return nil
	}).After(func(f *run.Frame) error {
		if once.suits(f) {
			p.prepareBias(f)
			return nil
		}
		return p.prepare(f)
	})
}

// applyDense computes all rows, denseRows at a time.
func (p *product) applyDense(f *run.Frame, d *denseWindows, o operands) {
	rows := f.Total()
	blocks := (rows + denseRows - 1) / denseRows
	d.prepare(rows)
	f.Each(len(p.units)*blocks, func(w *run.Worker, task int) {
		u, first := p.units[task/blocks], task%blocks*denseRows
		n := min(denseRows, rows-first)
		some := operands{o.out[first*d.width:], o.in[first*d.k:], o.end.From(first * d.width)}
		p.do(f, w, u, d.rows(n), some, 0, n)
	})
}

// buildDense builds x * weight^T + bias, like PyTorch's Linear. The weight is [N][K], so
// that value k of column c is at c*K + k.
func buildDense(c *plan.Compiler) run.Action {
	if c.Node().Int("leading") > 0 {
		return buildConv(c)
	}
	x, y := c.In(0), c.Out(0)
	return dense(c, "dense", x, filterOf(c), y, 1, x.Count)
}

// buildDenseGradInput builds dy * weight: a dense product with the transposed weight.
func buildDenseGradInput(c *plan.Compiler) run.Action {
	if c.Node().Int("leading") > 0 {
		return buildConvGradInput(c)
	}
	dy, dx := c.In(0), c.Out(0)
	return dense(c, "dense backward", dy, plain(c.In(1)), dx, dx.Count, 1)
}
