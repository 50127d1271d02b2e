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
	apart bool // the weights lie too far apart for tiles: windows compute everything
	of    *state
	stamp uint64
	fills uint64

	mu     sync.Mutex
	direct uint64 // the fill for which the weights of the windows were packed
}

func newWinogradPack(g kernel.Winograd, of *state, back bool) *winogradPack {
	return &winogradPack{Winograd: g, back: back, of: of, data: make([]float32, g.PackedLen())}
}

// bytes returns the memory of the transformed weights.
func (p *winogradPack) bytes() int64 { return int64(4 * len(p.data)) }

// fill transforms the weights unless that has been done since they changed.
func (p *winogradPack) fill(f *frame, weight *value) {
	if p.of != nil && p.stamp == p.of.stamp {
		return
	}
	apart := make([]bool, p.Panels())
	f.each(p.Panels(), func(w *worker, panel int) {
		taps := w.floats(9 * p.In * p.PanelWidth(panel))
		apart[panel] = !p.gather(taps, f.f32(weight), panel)
		f.exe.device.kernels.WinogradWeights(p.Winograd, panel, p.data, taps)
	})
	p.apart = false
	for _, a := range apart {
		p.apart = p.apart || a
	}
	p.fills++
	if p.of != nil {
		p.stamp = p.of.stamp
	}
}

// gather copies the weights of a panel to taps, [9][In][PanelWidth], and
// reports whether they are even.
func (p *winogradPack) gather(taps, weight []float32, panel int) bool {
	width, first, even := p.PanelWidth(panel), panel*kernel.WinogradLanes, true
	for o := range width {
		var s tapSums
		for c := range p.In {
			at := ((first+o)*p.In + c) * 9
			if p.back {
				at = (c*p.Out + first + o) * 9
			}
			for t, v := range weight[at : at+9] {
				if p.back {
					t = 8 - t
				}
				taps[(t*p.In+c)*width+o] = v
				s.add(t, v)
			}
		}
		even = even && s.even()
	}
	return even
}

// tapSums are the sums of the sizes of an output channel's weights by tap.
type tapSums struct {
	sums [9]float32
	most float32
	nan  bool
}

func (s *tapSums) add(t int, v float32) {
	v = max(v, -v)
	s.sums[t] += v
	s.most = max(s.most, v)
	s.nan = s.nan || v != v
}

// even reports whether every tap has weights of a size that the largest weight
// does not outweigh.
func (s *tapSums) even() bool {
	const share = 0.25
	if s.nan || s.most > tileMost || s.most > 0 && s.most < tileLeast {
		return false
	}
	for _, sum := range s.sums {
		if sum < share*s.most {
			return false
		}
	}
	return true
}

// fillDirect packs the weights for windows, which few tiles need, in the
// worker that needs them first.
func (p *winogradPack) fillDirect(f *frame, direct *product, weight *value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.direct == p.fills {
		return
	}
	for i := range direct.parts {
		part := &direct.parts[i]
		for panel := range part.window.Panels() {
			part.window.Pack(panel, part.data, f.f32(weight), part.at, part.step)
		}
	}
	p.direct = p.fills
}
