package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// In the last run of a program, packed weights are not read again. A worker then packs a panel into its
// private memory, multiplies all rows by it, and discards it. The weights of a large dense product, which
// may be most of a network, are therefore not stored twice. A panel is a separate window with the same
// chains:
//
// 	         K                 64                        N
// 	rows   [ x ]   *   K [ panel ]   =   rows [ ... | panel | ... ]

// denseOnce is a dense product without packed weights.
type denseOnce struct {
	product    *product
	full, last denseWindows // windows of a panel, and of the last panel
}

// newDenseOnce returns product p in this form. p has one section, with the windows of d.
func newDenseOnce(p *product, d *denseWindows) *denseOnce {
	rest := (d.width-1)%kernel.PanelLanes + 1
	lanes := min(d.width, kernel.PanelLanes)
	return &denseOnce{product: p, full: denseWindows{k: d.k, width: d.width, lanes: lanes},
		last: denseWindows{k: d.k, width: d.width, lanes: rest}}
}

// suits reports whether to compute without packed weights: they are not packed yet, and this is the last
// run.
func (d *denseOnce) suits(f *run.Frame) bool {
	p := d.product
	stamp := p.filter.stamp()
	return f.Last && stamp > 0 && p.packed.stamp != stamp && p.weights > f.Schedule.Weights
}

// apply computes all rows, a panel at a time.
func (d *denseOnce) apply(f *run.Frame, o operands) {
	rows := f.Total()
	d.full.prepare(rows)
	d.last.prepare(rows)
	d.full.rows(1)
	d.last.rows(1)
	f.Each(len(d.product.units), func(w *run.Worker, panel int) { d.panel(f, w, o, panel, rows) })
	d.product.filter.weight.State().Rest()
}

// panel packs one panel and multiplies all rows with it.
func (d *denseOnce) panel(f *run.Frame, w *run.Worker, o operands, panel, rows int) {
	windows, first := &d.full, panel*kernel.PanelLanes
	section, filter := &d.product.packed.sections[0], d.product.filter
	if panel == len(d.product.units)-1 {
		windows = &d.last
	}
	packed, bias := w.Floats(windows.byRows[1].PackedLen()), d.product.biasOf(unit{})
	f.Kernels.Pack(windows.byRows[1], 0, packed, f.F32(filter.weight)[first*section.step:], section.order,
		section.step, filter.factor(f).From(first))
	if bias != nil {
		bias = bias[first:]
	}
	for from := 0; from < rows; from += denseRows {
		n := min(denseRows, rows-from)
		f.Kernels.Window(windows.byRows[n], 0, o.out[from*windows.width+first:], o.in[from*windows.k:], packed,
			bias,
			o.end.From(from*windows.width+first), 0, n, &w.Tile)
	}
}
