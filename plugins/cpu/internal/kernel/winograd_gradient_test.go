package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// winogradKernelGradient returns the transformed gradient, and the gradient of
// the kernels, [Taps()][In][Out], of a padded image of whole tiles.
func winogradKernelGradient(set *Set, w *winogradRun, dy []float32) (d, taps []float32) {
	g, all := w.Winograd, w.rows*w.columns
	v, d := make([]float32, g.InLen(all)), make([]float32, g.GradientLen(all))
	width := w.columns * w.Side * g.Out
	for y := range w.rows {
		set.WinogradInput(g, v, y*w.columns, all, w.in, Row{At: y * g.Side * w.step(), Step: w.step(),
			Count: w.columns})
		set.WinogradGradient(g, d, y*w.columns, all, dy, Row{At: y * g.Side * width, Step: width, Count: w.columns})
	}
	win, spare := g.GradientTiles(all), new(Workspace)
	taps = make([]float32, g.Taps()*g.In*g.Out)
	for p := range win.Panels() {
		n := g.In * win.PanelWidth(p)
		sums := make([]float32, g.Frequencies()*g.SumsStep(n))
		for f := range g.Frequencies() {
			in, out := g.Frequency(f, all)
			some := w.columns * g.ChainRows(w.columns)
			if some == 0 {
				some = all
			}
			for from := 0; from < all; from += some {
				chain, middle, to := make([]float32, n), min(from+some/2, all), min(from+some, all)
				set.Gradient(win, 0, p, chain, v[in:], d[out:], 0, g.In, from, middle, spare)
				set.Gradient(win, 0, p, chain, v[in:], d[out:], 0, g.In, middle, to, spare)
				set.Add(sums[f*g.SumsStep(n):][:n], sums[f*g.SumsStep(n):], chain)
			}
		}
		part := make([]float32, g.Taps()*n)
		set.WinogradTaps(g, part, sums, n)
		for i, e := range part {
			k := i / win.PanelWidth(p)
			taps[k*g.Out+p*PanelLanes+i%win.PanelWidth(p)] = e
		}
	}
	return d, taps
}

func TestWinogradGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	for i, c := range []struct{ in, out, rows, columns int }{
		{16, 16, 1, 1}, {16, 32, 2, 3}, {32, 16, 1, 5}, {32, 48, 3, 5}, {48, 80, 1, 2},
	} {
		for _, tiles := range allTiles {
			w := newWinogradRun(r, Winograd{tiles, c.in, c.out}, c.rows, c.columns)
			dy := guarded(r, c.rows*c.columns*w.Side*w.Side*c.out)
			d, taps := winogradKernelGradient(definition, w, dy)
			for _, set := range fused() {
				if gotD, got := winogradKernelGradient(set, w, dy); !sameBits(gotD, d) || !sameBits(got, taps) {
					t.Errorf("%s: case %d, %+v: gradient equal %v, kernels %v", set.Name, i, tiles,
						sameBits(gotD, d), sameBits(got, taps))
				}
			}
		}
	}
}

// TestWinogradGradientPrecision checks for the gradient of the kernels what TestWinogradPrecision checks
// for the outputs (docs/numerics.md, section 5).
func TestWinogradGradientPrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	set := Sets()[0]
	if !set.fused {
		set = definition
	}
	for _, c := range []struct {
		tiles class.Tiles
		n     int // number of tiles along one side of the image
	}{{tiles2x3, 32}, {tiles4x3, 16}, {tiles2x5, 32}, {tiles2x5, 16}} {
		for _, relu := range []bool{false, true} {
			n := c.n
			w := newWinogradRun(r, Winograd{c.tiles, 16, 16}, n, n)
			dy := guarded(r, n*n*w.Side*w.Side*w.Out)
			if relu {
				Generic.Relu(w.in, w.in)
			}
			_, taps := winogradKernelGradient(set, w, dy)
			var ours, chains float64
			for i, got := range taps {
				want, chain, size := w.exactGradient(dy, i/w.Out/w.In, i/w.Out%w.In, i%w.Out)
				ours += math.Pow((float64(got)-want)/size, 2)
				chains += math.Pow((float64(chain)-want)/size, 2)
			}
			ratio := math.Sqrt(ours / chains)
			t.Logf("%+v, relu %v: error %.2f times that of a chain", c, relu, ratio)
			if !(ratio < 2) {
				t.Errorf("%+v, relu %v: error %.2f times that of a chain", c, relu, ratio)
			}
		}
	}
}

// exactGradient does the same as the method exact, for an element of the kernels' gradient.
func (w *winogradRun) exactGradient(dy []float32, t, c, o int) (sum float64, chain float32, size float64) {
	width := w.columns * w.Side
	for y := range w.rows * w.Side {
		for x := range width {
			a, b := w.in[(y+t/w.Kernel)*w.step()+(x+t%w.Kernel)*w.In+c], dy[(y*width+x)*w.Out+o]
			sum += float64(a) * float64(b)
			size += math.Abs(float64(a) * float64(b))
			chain = class.Fuse(a, b, chain)
		}
	}
	return sum, chain, size
}
