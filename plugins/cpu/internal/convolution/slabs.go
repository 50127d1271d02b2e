package convolution

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// If weights are heavy and images small, the positions of all rows are numbered consecutively and cut
// into equal slabs of up to 96, on whole tiles. A slab packs its input once, and then multiplies it with
// all panels: weights come from memory once for a slab instead of once for a row.
//
//	rows       row 0 (49)     row 1 (49)     row 2 (49)
//	positions  0 ......... 48 49 ........ 97 98 ....... 146
//	slabs      |--- slab 0 (72) ----|------ slab 1 (75) ----|
//	tasks      slab 0: panels 0-3, panels 4-7;  slab 1: panels 0-3, panels 4-7

// slabs describes the tasks of one section of a product. The positions of all rows are divided into count
// slabs, and the panels into cuts ranges.
type slabs struct{ section, positions, count, cuts int }

// leastSlab is the number of positions of a slab that leaves space for an incomplete tile.
const leastSlab = kernel.SlabPositions - kernel.SlabTile

// bySlabs reports whether kernels compute the product by slabs; outCount is the number of
// values of a row's result.
func (p *product) bySlabs(f *run.Frame, outCount int) bool {
	const most = math.MaxInt32 / 4 // maximum distance, in values, between two results of a slab
	other := func(section packSection) bool {
		w := section.window
		return w.Taps*w.Run == 0 || (kernel.SlabPositions/max(w.Positions(), 1)+2)*outCount > most
	}
	return p.matrix == nil && f.Kernels.Slabs() && !slices.ContainsFunc(p.packed.sections, other)
}

// applySlabs computes all rows. It multiplies some positions, of one or more rows, by all weights,
// and then the next positions.
func (p *product) applySlabs(f *run.Frame, o operands, inCount, outCount int) {
	var all []slabs
	tasks := 0
	for i, section := range p.packed.sections {
		s := slabs{section: i, positions: f.Total() * section.window.Positions()}
		s.count = countOf(s.positions, f.Threads())
		s.cuts = cutsOf(section.window.Panels(), len(p.packed.sections)*s.count, f.Threads())
		tasks += s.count * s.cuts
		all = append(all, s)
	}
	f.Each(tasks, func(w *run.Worker, task int) {
		i := 0
		for ; task >= all[i].count*all[i].cuts; i++ {
			task -= all[i].count * all[i].cuts
		}
		s, section := all[i], &p.packed.sections[all[i].section]
		slab, cut, panels := task/s.cuts, task%s.cuts, section.window.Panels()
		first, last := schedule.RangeOf(cut, s.cuts, panels)
		f.Kernels.WindowSlab(p.window(unit{section: i}), &kernel.Slab{Out: o.out[section.out:],
			In:      o.in[section.in:],
			OutStep: outCount, InStep: inCount, From: s.first(slab), To: s.first(slab + 1), Packed: section.data,
			Bias: p.biasOf(unit{section: i}), Untrimmed: section.untrimmed, First: first, Last: last,
			Epilogue: o.end.From(section.out)}, &w.Tile)
	})
}

// countOf returns the number of slabs into which positions are divided. If it is more than one, every
// thread gets the same number of slabs.
func countOf(positions, threads int) int {
	count := (positions + leastSlab - 1) / leastSlab
	if count == 1 {
		return 1
	}
	return (count + threads - 1) / threads * threads
}

// cutsOf returns the number of ranges of panels for each slab. More ranges give more tasks, but each
// range packs the input of its slab again.
func cutsOf(panels, slabs, threads int) int {
	const perThread = 2
	if threads == 1 {
		return 1
	}
	return max(1, min(panels, (perThread*threads+slabs-1)/max(slabs, 1)))
}

// first returns the first position of slab i. It is a multiple of the number of positions of a tile.
func (s *slabs) first(i int) int {
	if i == s.count {
		return s.positions
	}
	return s.positions * i / s.count / kernel.SlabTile * kernel.SlabTile
}
