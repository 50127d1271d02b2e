package cpu

import (
	"sync"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// winogradPack is the transformed weights of a convolution by tiles.
type winogradPack struct {
	kernel.Winograd
	back  bool // the weights are those of the convolution whose gradient this is
	data  []float32
	apart bool   // the weights lie too far apart for tiles: windows compute everything
	stamp uint64 // of the filter, when they were transformed
	fills uint64

	mu     sync.Mutex
	direct uint64 // the fill for which the weights of the windows were packed
}

func newWinogradPack(g kernel.Winograd, back bool, r *reserve) *winogradPack {
	return &winogradPack{Winograd: g, back: back, data: take[float32](r, g.PackedLen())}
}

// bytes returns the memory of the transformed weights.
func (p *winogradPack) bytes() int64 { return int64(4 * len(p.data)) }

// fill transforms the weights unless that has been done since they changed.
func (p *winogradPack) fill(f *frame, t *filter) {
	stamp := t.stamp()
	if stamp > 0 && p.stamp == stamp {
		return
	}
	apart := make([]bool, p.Panels())
	f.each(p.Panels(), func(w *worker, panel int) {
		taps := w.floats(9 * p.In * p.PanelWidth(panel))
		apart[panel] = !p.gather(f, taps, t, panel)
		f.exe.device.kernels.WinogradWeights(p.Winograd, panel, p.data, taps)
	})
	p.apart = false
	for _, a := range apart {
		p.apart = p.apart || a
	}
	p.fills++
	p.stamp = stamp
	t.weight.rest()
}

// gather copies the weights of a panel to taps, [9][In][PanelWidth], and
// reports whether they are even.
func (p *winogradPack) gather(f *frame, taps []float32, filter *filter, panel int) bool {
	width, first, weight := p.PanelWidth(panel), panel*kernel.WinogradLanes, f.f32(filter.weight)
	factor := filter.factor(f)
	for o := 0; o < width; o += kernel.Lanes { // so few rows of weights stay in the cache
		for c := range p.In {
			at, step := ((first+o)*p.In+c)*9, p.In*9
			if p.back {
				at, step = (c*p.Out+first+o)*9, 9
			}
			for t := range 9 {
				from := at + t
				if p.back {
					from = at + 8 - t
				}
				row := taps[(t*p.In+c)*width+o:][:kernel.Lanes]
				for i := range row {
					row[i] = weight[from]
					from += step
				}
				factor.Apply(row, first+o)
			}
		}
	}
	return p.even(f, taps, width)
}

// even reports whether every tap of every output channel has weights of a size
// that the channel's largest weight does not outweigh.
func (p *winogradPack) even(f *frame, taps []float32, width int) bool {
	const share = 0.25
	var sizes [9][kernel.WinogradLanes]float32
	var most [kernel.WinogradLanes]float32
	for t := range sizes {
		f.exe.device.kernels.Sizes(sizes[t][:width], most[:width], taps[t*p.In*width:][:p.In*width])
	}
	for o, m := range most[:width] {
		if m == 0 {
			continue
		}
		if !(m >= tileLeast && m <= tileMost) {
			return false
		}
		for t := range sizes {
			if sizes[t][o] < share*m {
				return false
			}
		}
	}
	return true
}

// fillDirect packs the weights for windows, which few tiles need, in the
// worker that needs them first.
func (p *winogradPack) fillDirect(f *frame, direct *product) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.direct == p.fills {
		return
	}
	for i := range direct.parts {
		part := &direct.parts[i]
		for panel := range part.window.Panels() {
			part.fill(f, direct.filter, panel)
		}
	}
	p.direct = p.fills
}
