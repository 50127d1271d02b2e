package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// winogradRun is a convolution of one padded image that consists of rows by columns of whole tiles.
type winogradRun struct {
	Winograd
	rows, columns  int // numbers of rows and of columns of tiles
	in, taps, bias []float32
	epilogue       Epilogue
}

func newWinogradRun(r *rand.Rand, g Winograd, rows, columns int) *winogradRun {
	w := &winogradRun{Winograd: g, rows: rows, columns: columns}
	w.in = guarded(r, w.height()*w.step())
	w.taps, w.bias = guarded(r, g.Taps()*g.TapRows()*g.Out), guarded(r, g.Out)
	return w
}

func (w *winogradRun) height() int { return w.rows*w.Side + w.Kernel - 1 }
func (w *winogradRun) step() int   { return (w.columns*w.Side + w.Kernel - 1) * w.In }

// do returns the transformed weights in the layout of the definition, the transformed tiles, and the
// outputs.
func (w *winogradRun) do(set *Set) (u, v, out []float32) {
	g, all := w.Winograd, w.rows*w.columns
	u, v, m := make([]float32, g.PackedLen()), make([]float32, g.InLen(all)), make([]float32, g.OutLen(all))
	width := w.columns * w.Side
	out = make([]float32, w.rows*w.Side*width*g.Out)
	for y := range w.rows {
		set.WinogradInput(g, v, y*w.columns, all, w.in, Row{At: y * g.Side * w.step(), Step: w.step(),
			Count: w.columns})
	}
	for p := range g.Panels() {
		set.WinogradWeights(g, p, u, w.taps[g.Taps()*g.TapRows()*p*WinogradLanes:])
		set.WinogradProduct(g, p, m, v, u, all)
		for y := range w.rows {
			set.WinogradOutput(g, p, out[p*WinogradLanes:], Row{At: y * g.Side * width * g.Out, Step: width * g.Out,
				Count: w.columns}, g.Out, m, y*w.columns, all, w.bias[p*WinogradLanes:],
				w.epilogue.From(p*WinogradLanes))
		}
	}
	return set.inRows(g, u), v, out
}

// inRows converts transformed weights from columns of adjacent channels to rows of all channels.
func (s *Set) inRows(g Winograd, u []float32) []float32 {
	if s.winograd == nil {
		return u
	}
	rows := slices.Clone(u)
	for panel := range g.Panels() {
		width := g.PanelWidth(panel)
		column := s.winograd.column(width)
		for f := range g.Frequencies() {
			at := g.panelAt(panel) + f*g.weightStep(panel)
			for i := range g.In * width {
				k, o := i/width, i%width
				rows[at+i] = u[at+o/column*g.In*column+k*column+o%column]
			}
		}
	}
	return rows
}

// weight returns the weight from input channel c to output channel o at tap t.
func (w *winogradRun) weight(t, c, o int) float64 {
	p := o / WinogradLanes
	width := w.PanelWidth(p)
	return float64(w.taps[w.Taps()*w.TapRows()*p*WinogradLanes+(t*w.TapRows()+c)*width+o%WinogradLanes])
}

// exact returns an output in float64, the same output as a chain of fused multiply-adds, and the sum of the
// absolute values of its products.
func (w *winogradRun) exact(y, x, o int) (sum float64, chain float32, size float64) {
	for t := range w.Taps() {
		for c := range w.In {
			a, b := w.in[(y+t/w.Kernel)*w.step()+(x+t%w.Kernel)*w.In+c], w.weight(t, c, o)
			sum += float64(a) * b
			size += math.Abs(float64(a) * b)
			chain = class.Fuse(a, float32(b), chain)
		}
	}
	return sum + float64(w.bias[o]), chain + w.bias[o], size
}

// allTiles are the tiles of all algorithms.
var allTiles = []class.Tiles{tiles2x3, tiles4x3, tiles2x5}

func TestWinograd(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 4))
	for i, c := range []struct{ in, out, rows, columns int }{
		{16, 16, 1, 1}, {16, 32, 2, 3}, {32, 16, 1, 5}, {32, 48, 3, 5}, {48, 32, 1, 2}, {64, 80, 2, 2},
		{96, 32, 1, 29},
		{160, 16, 2, 7},
	} {
		for _, tiles := range allTiles {
			w := newWinogradRun(r, Winograd{tiles, c.in, c.out}, c.rows, c.columns)
			w.epilogue = randomEpilogue(r, c.rows*c.columns*w.Side*w.Side*c.out)
			u, v, out := w.do(definition)
			for _, set := range fused() {
				gotU, gotV, got := w.do(set)
				if !sameBits(gotU, u) || !sameBits(gotV, v) || !sameBits(got, out) {
					t.Errorf("%s: case %d, %+v: weights equal %v, tiles %v, outputs %v", set.Name, i, tiles,
						sameBits(gotU, u), sameBits(gotV, v), sameBits(got, out))
				}
			}
		}
	}
}

// TestWinogradProducts runs the products of every number of tiles that any set processes
// together, with and without prefetching weights.
func TestWinogradProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 5))
	for tiles := 1; tiles < 15; tiles++ {
		for _, in := range []int{16, 80} {
			w := newWinogradRun(r, Winograd{tiles4x3, in, 48}, 1, tiles)
			_, _, out := w.do(definition)
			for _, set := range fused() {
				if _, _, got := w.do(set); !sameBits(got, out) {
					t.Errorf("%s: %d tiles of %d channels: other outputs", set.Name, tiles, in)
				}
			}
		}
	}
}

// TestWinogradPrecision checks that the error is at most twice the error of a chain of fused multiply-adds
// (docs/numerics.md, section 5). It compares the root mean square errors, over operands of both signs and
// over the results of a relu.
func TestWinogradPrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for _, g := range []Winograd{{tiles2x3, 16, 16}, {tiles2x3, 256, 16}, {tiles4x3, 32, 16}, {tiles4x3, 64, 16},
		{tiles4x3, 256, 16}, {tiles2x5, 16, 16}, {tiles2x5, 32, 16}, {tiles2x5, 64, 16}, {tiles2x5, 256, 16}} {
		for _, relu := range []bool{false, true} {
			w := newWinogradRun(r, g, 2, 2)
			if relu {
				Generic.Relu(w.in, w.in)
			}
			_, _, out := w.do(Sets()[0])
			if !Sets()[0].fused {
				_, _, out = w.do(definition)
			}
			var ours, chains float64
			side := 2 * g.Side
			for i, got := range out {
				want, chain, size := w.exact(i/g.Out/side, i/g.Out%side, i%g.Out)
				ours += math.Pow((float64(got)-want)/size, 2)
				chains += math.Pow((float64(chain)-want)/size, 2)
			}
			ratio := math.Sqrt(ours / chains)
			t.Logf("%+v, relu %v: error %.2f times that of a chain", g, relu, ratio)
			if !(ratio < 2) {
				t.Errorf("%+v, relu %v: error %.2f times that of a chain", g, relu, ratio)
			}
		}
	}
}

func TestWinogradSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const count = 5
	for run := Lanes; run < 9*Lanes; run += Lanes {
		a, b := guarded(r, run*count), guarded(r, run*count)
		a[run+3], b[3*run-1], b[3*run] = float32(math.Inf(-1)), float32(math.NaN()), -7
		sums, most := make([]float32, count), make([]uint32, count)
		definition.WinogradSpread(sums, most, a, b, run, count)
		if most[3] != math.Float32bits(7) || most[2] <= most[1] {
			t.Errorf("run %d: largest %x", run, most)
		}
		for _, set := range fused() {
			gotSums, gotMost := make([]float32, count), make([]uint32, count)
			set.WinogradSpread(gotSums, gotMost, a, b, run, count)
			if !sameBits(gotSums, sums) || !slices.Equal(gotMost, most) {
				t.Errorf("%s, run %d: got %v %x, want %v %x", set.Name, run, gotSums, gotMost, sums, most)
			}
		}
	}
}

func BenchmarkWinograd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		g             Winograd
		rows, columns int
	}{
		{Winograd{tiles2x3, 16, 16}, 16, 16}, {Winograd{tiles4x3, 16, 16}, 8, 8},
		{Winograd{tiles4x3, 32, 32}, 4, 4},
		{Winograd{tiles4x3, 64, 64}, 2, 2},
		{Winograd{tiles4x3, 64, 64}, 4, 7}, {Winograd{tiles4x3, 64, 64}, 2, 14},
		{Winograd{tiles4x3, 128, 128}, 7, 7},
		{Winograd{tiles4x3, 256, 256}, 4, 4},
		{Winograd{tiles2x3, 512, 512}, 4, 4},
		{Winograd{tiles2x5, 32, 64}, 7, 7}, {Winograd{tiles2x5, 64, 32}, 7, 7},
	} {
		w := newWinogradRun(r, c.g, c.rows, c.columns)
		all := c.rows * c.columns
		for _, set := range fused() {
			u, v, out := w.do(set)
			m := make([]float32, c.g.OutLen(all))
			flops := 2 * float64(c.g.Taps()) * float64(all*c.g.Side*c.g.Side*c.g.In*c.g.Out)
			bench := func(name string, flops float64, do func()) {
				b.Run(fmt.Sprintf("%dx%d/%dto%d/%dx%d/%s/%s", c.g.Side, c.g.Kernel, c.g.In, c.g.Out, c.rows, c.columns, name, set.Name),
					func(b *testing.B) {
						for b.Loop() {
							do()
						}
						reportRate(b, set, flops)
					})
			}
			input := func() {
				for y := range w.rows {
					set.WinogradInput(c.g, v, y*w.columns, all, w.in, Row{At: y * c.g.Side * w.step(), Step: w.step(),
						Count: w.columns})
				}
			}
			product := func(p int) { set.WinogradProduct(c.g, p, m, v, u, all) }
			width := w.columns * c.g.Side
			output := func(p int) {
				for y := range w.rows {
					set.WinogradOutput(c.g, p, out[p*WinogradLanes:],
						Row{At: y * c.g.Side * width * c.g.Out, Step: width * c.g.Out, Count: w.columns}, c.g.Out, m,
						y*w.columns, all, w.bias[p*WinogradLanes:], Epilogue{})
				}
			}
			bench("input", 0, input)
			bench("product", flops*float64(c.g.Frequencies())/float64(c.g.Taps()*c.g.Side*c.g.Side), func() {
				for p := range c.g.Panels() {
					product(p)
				}
			})
			bench("weights", 0, func() {
				for p := range c.g.Panels() {
					set.WinogradWeights(c.g, p, u, w.taps[c.g.Taps()*c.g.TapRows()*p*WinogradLanes:])
				}
			})
			bench("all", flops, func() {
				input()
				for p := range c.g.Panels() {
					product(p)
					output(p)
				}
			})
		}
	}
}
