package convolution

import (
	"sync"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Transformed weights are stored as [panel][frequency][C][32 output channels]. For one panel
// and frequency this is a matrix that WinogradProduct reads from front to back, with gaps after
// it so that different frequencies do not map to one set of a cache.
//
// 	weights [O][C][3][3] --gather--> taps [9][C+1][32] --transform--> data [36][C][32]

// winogradPack is the transformed weights of a convolution by tiles.
type winogradPack struct {
	kernel.Winograd
	order  kernel.Order // offsets of the weights, by tap and input channel
	step   int          // distance in values between the weights of two output channels
	data   []float32
	memory []float32 // original memory of data while it uses lent memory; otherwise nil
	unused bool      // the range of the weights is too wide for tiles: windows compute everything
	stamp  uint64    // stamp of the filter when it was transformed
	fills  uint64

	mu     sync.Mutex
	direct uint64 // value of the field fills when the weights for windows were packed
}

// newWinogradPack returns memory for the weights of g. If backward is set, g is the gradient of a
// convolution, and the weights are the weights of that convolution.
func newWinogradPack(c *plan.Compiler, g kernel.Winograd, backward bool) *winogradPack {
	taps := g.Taps()
	offsets, step := make([]int, taps*g.TapRows()), taps*g.In
	if backward {
		step = taps
	}
	for i := range offsets {
		switch t, k := i/g.TapRows(), i%g.TapRows(); {
		case k == g.In:
			offsets[i] = -1 // there is no weight here
		case backward:
			offsets[i] = k*g.Out*taps + taps - 1 - t
		default:
			offsets[i] = k*taps + t
		}
	}
	return &winogradPack{Winograd: g, order: kernel.NewOrder(offsets), step: step,
		data: plan.ReservePacked[float32](c, g.PackedLen())}
}

// Bytes returns the memory of the transformed weights.
func (p *winogradPack) Bytes() int64 { return int64(4 * len(p.data)) }

// fill transforms the weights if they have changed since they were transformed. In the last run, the
// weights of a node that runs alone are stored in lent memory, and pass discards them.
func (p *winogradPack) fill(f *run.Frame, t *filter, alone bool) {
	stamp := t.stamp()
	if stamp > 0 && p.stamp == stamp {
		return
	}
	if alone && f.Last {
		p.memory, p.data = p.data, f.Passing(len(p.data))
		stamp = 0
	}
	apart := make([]bool, p.Panels())
	f.Each(p.Panels(), func(w *run.Worker, panel int) {
		taps := w.Floats(p.Taps() * p.TapRows() * p.PanelWidth(panel))
		apart[panel] = !p.gather(f, taps, t, panel)
		f.Kernels.WinogradWeights(p.Winograd, panel, p.data, taps)
	})
	p.unused = false
	for _, a := range apart {
		p.unused = p.unused || a
	}
	p.fills++
	p.stamp = stamp
	t.weight.State().Rest()
}

// pass gives the weights back the memory that they had before fill.
func (p *winogradPack) pass() {
	if p.memory != nil {
		p.data, p.memory = p.memory, nil
	}
}

// gather copies the weights of a panel to taps, [tap][TapRows][PanelWidth], and reports whether the weights
// are even: see the method even.
func (p *winogradPack) gather(f *run.Frame, taps []float32, filter *filter, panel int) bool {
	width, first := p.PanelWidth(panel), panel*kernel.WinogradLanes
	f.Kernels.Gather(taps, width, width, f.F32(filter.weight)[first*p.step:], p.order, p.step,
		filter.factor(f).From(first))
	return p.even(f, taps, width)
}

// even reports whether, for every output channel, the weights of each tap are large enough relative to
// the largest weight of the channel.
func (p *winogradPack) even(f *run.Frame, taps []float32, width int) bool {
	var sizes [class.MostTaps][kernel.WinogradLanes]float32
	var most [kernel.WinogradLanes]float32
	for t := range p.Taps() {
		f.Kernels.Sizes(sizes[t][:width], most[:width], taps[t*p.TapRows()*width:][:p.In*width])
	}
	for o, m := range most[:width] {
		var of [class.MostTaps]float32
		for t := range p.Taps() {
			of[t] = sizes[t][o]
		}
		if !class.EvenWeights(of[:p.Taps()], m) {
			return false
		}
	}
	return true
}

// fillDirect packs the weights in the order for windows. Only few tiles need them, so the worker that needs
// them first packs them.
func (p *winogradPack) fillDirect(f *run.Frame, direct *product) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.direct == p.fills {
		return
	}
	for i := range direct.packed.sections {
		section := &direct.packed.sections[i]
		for panel := range section.window.Panels() {
			section.fill(f, direct.filter, panel)
		}
	}
	p.direct = p.fills
}
