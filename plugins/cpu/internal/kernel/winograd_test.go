package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// winogradRun is a convolution of one padded image, rows by columns of whole tiles.
type winogradRun struct {
	Winograd
	rows, columns  int // of tiles
	in, taps, bias []float32
	ending         Ending
}

func newWinogradRun(r *rand.Rand, g Winograd, rows, columns int) *winogradRun {
	w := &winogradRun{Winograd: g, rows: rows, columns: columns}
	w.in = guarded(r, w.height()*w.step())
	w.taps, w.bias = guarded(r, winogradTaps*g.In*g.Out), guarded(r, g.Out)
	return w
}

func (w *winogradRun) height() int { return w.rows*w.Side + 2 }
func (w *winogradRun) step() int   { return (w.columns*w.Side + 2) * w.In }

// do returns the transformed weights, as the definition has them, and tiles, and the outputs.
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
		set.WinogradWeights(g, p, u, w.taps[winogradTaps*g.In*p*WinogradLanes:])
		set.WinogradProduct(g, p, m, v, u, all)
		for y := range w.rows {
			set.WinogradOutput(g, p, out[p*WinogradLanes:], Row{At: y * g.Side * width * g.Out, Step: width * g.Out,
				Count: w.columns}, g.Out, m, y*w.columns, all, w.bias[p*WinogradLanes:], w.ending.From(p*WinogradLanes))
		}
	}
	return set.inRows(g, u), v, out
}

// inRows returns transformed weights whose columns follow each other with those side by side.
func (s *Set) inRows(g Winograd, u []float32) []float32 {
	if s.winograd == nil {
		return u
	}
	rows := slices.Clone(u)
	for i := range rows {
		panel := i / (g.Frequencies() * g.In * WinogradLanes)
		at, width := g.Frequencies()*g.In*WinogradLanes*panel, g.PanelWidth(panel)
		column, f, k, o := s.winograd.column(width), (i-at)/(g.In*width), (i-at)/width%g.In, (i-at)%width
		rows[i] = u[at+f*g.In*width+o/column*g.In*column+k*column+o%column]
	}
	return rows
}

// weight returns the element of the kernel from c to o at tap t.
func (w *winogradRun) weight(t, c, o int) float64 {
	p := o / WinogradLanes
	width := w.PanelWidth(p)
	return float64(w.taps[winogradTaps*w.In*p*WinogradLanes+(t*w.In+c)*width+o%WinogradLanes])
}

// exact returns an output in float64, what a chain of fused multiply-adds
// gives, and the sum of the sizes of its products.
func (w *winogradRun) exact(y, x, o int) (sum float64, chain float32, size float64) {
	for t := range winogradTaps {
		for c := range w.In {
			a, b := w.in[(y+t/3)*w.step()+(x+t%3)*w.In+c], w.weight(t, c, o)
			sum += float64(a) * b
			size += math.Abs(float64(a) * b)
			chain = class.Fuse(a, float32(b), chain)
		}
	}
	return sum + float64(w.bias[o]), chain + w.bias[o], size
}

func TestWinograd(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 4))
	for i, c := range []struct{ in, out, rows, columns int }{
		{16, 16, 1, 1}, {16, 32, 2, 3}, {32, 16, 1, 5}, {32, 48, 3, 5}, {48, 32, 1, 2}, {64, 80, 2, 2},
		{96, 32, 1, 29},
		{160, 16, 2, 7},
	} {
		for _, side := range []int{2, 4} {
			w := newWinogradRun(r, Winograd{Side: side, In: c.in, Out: c.out}, c.rows, c.columns)
			w.ending = randomEnding(r, c.rows*c.columns*side*side*c.out)
			u, v, out := w.do(definition)
			for _, set := range fused() {
				gotU, gotV, got := w.do(set)
				if !sameBits(gotU, u) || !sameBits(gotV, v) || !sameBits(got, out) {
					t.Errorf("%s: case %d, tiles of %d: weights equal %v, tiles %v, outputs %v", set.Name, i, side,
						sameBits(gotU, u), sameBits(gotV, v), sameBits(got, out))
				}
			}
		}
	}
}

// docs/numerics.md, section 5: the error is at most twice that of a chain of fused
// multiply-adds. Compared are the roots of the mean square, over operands of
// both signs and over what a relu leaves.
func TestWinogradPrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for _, g := range []Winograd{{2, 16, 16}, {2, 256, 16}, {4, 32, 16}, {4, 64, 16}, {4, 256, 16}} {
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
		{Winograd{2, 16, 16}, 16, 16}, {Winograd{4, 16, 16}, 8, 8}, {Winograd{4, 32, 32}, 4, 4},
		{Winograd{4, 64, 64}, 2, 2},
		{Winograd{4, 64, 64}, 4, 7}, {Winograd{4, 64, 64}, 2, 14}, {Winograd{4, 128, 128}, 7, 7},
		{Winograd{4, 256, 256}, 4, 4},
		{Winograd{2, 512, 512}, 4, 4},
	} {
		w := newWinogradRun(r, c.g, c.rows, c.columns)
		all := c.rows * c.columns
		for _, set := range fused() {
			u, v, out := w.do(set)
			m := make([]float32, c.g.OutLen(all))
			flops := 2 * 9 * float64(all*c.g.Side*c.g.Side*c.g.In*c.g.Out)
			bench := func(name string, flops float64, do func()) {
				b.Run(fmt.Sprintf("%d/%dto%d/%dx%d/%s/%s", c.g.Side, c.g.In, c.g.Out, c.rows, c.columns, name, set.Name),
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
						y*w.columns, all, w.bias[p*WinogradLanes:], Ending{})
				}
			}
			bench("input", 0, input)
			bench("product", flops*float64(c.g.Frequencies())/float64(9*c.g.Side*c.g.Side), func() {
				for p := range c.g.Panels() {
					product(p)
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
