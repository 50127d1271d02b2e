package convolution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// randomConv returns a convolution and the shapes of its input and output.
func randomConv(r *rand.Rand) *Geometry {
	groups := 1 + r.IntN(4)/3
	w := graph.Window{Kernel: [2]int{1 + r.IntN(4), 1 + r.IntN(4)}, Stride: [2]int{1 + r.IntN(2), 1 + r.IntN(3)},
		Dilation: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}, Groups: groups}
	for i := range w.Pad {
		w.Pad[i] = r.IntN(3)
	}
	out := [2]int{1 + r.IntN(9), 1 + r.IntN(9)}
	in := [2]int{}
	for i := range in {
		in[i] = max(1, (out[i]-1)*w.Stride[i]+(w.Kernel[i]-1)*w.Dilation[i]+1-w.Pad[i]-w.Pad[i+2])
		out[i] = (in[i]+w.Pad[i]+w.Pad[i+2]-(w.Kernel[i]-1)*w.Dilation[i]-1)/w.Stride[i] + 1
	}
	c, o := groups*[]int{1, 3, 8, 16, 21}[r.IntN(5)], groups*[]int{3, 16, 20, 70}[r.IntN(4)]
	return NewGeometry(w, []int{c, in[0], in[1]}, []int{o, out[0], out[1]})
}

// operand returns n values that bfloat16 represents exactly, stored as float32 and as bfloat16.
func operand(r *rand.Rand, n int) (wide, half stored) {
	x, h := make([]float32, n+kernel.Lanes), make([]uint16, n+kernel.Lanes)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	kernel.Generic.NarrowBF16(h, x)
	kernel.Generic.RoundBF16(x)
	return stored{float: x}, stored{half: h}
}

// gradientByLines computes a gradient in tasks with the given numbers of values and columns. If a task does
// not have all values, its segments have few lines.
func gradientByLines(g *Geometry, set *kernel.Set, l *pairLines, x, dy stored,
	images, values, columns int) []float32 {
	together := 64 << 10
	if values < l.values {
		together = 1 << 10
	}
	k := g.newDot2Gradient(l, run.NewValue(graph.Variable{Type: graph.Type{Shape: []int{g.c, g.h, g.w}}}),
		run.NewValue(graph.Variable{Type: graph.Type{Shape: []int{g.o, g.oh, g.ow}}}), nil, together)
	dw, w := make([]float32, g.o*g.cg*g.taps), &run.Worker{}
	for group := range g.Groups {
		for first := 0; first < g.og; first += kernel.PanelLanes {
			for k0 := 0; k0 < l.values; k0 += values {
				for j0 := 0; j0 < len(l.begin); j0 += columns {
					t := dot2Task{k: k, kernels: set, worker: w, group: group, first: first, k0: k0,
						k1: min(k0+values, l.values), j0: j0, j1: min(j0+columns, len(l.begin))}
					t.sum(x, dy, 0, images)
					t.unpack(dw)
				}
			}
		}
	}
	return dw
}

// TestPairsGradient checks that weight gradients by pairs agree with the definition. They have the same
// bits if operands have two bytes, for any division into tasks, and, for even widths, for any lines.
func TestPairsGradient(t *testing.T) {
	const images = 3
	set := kernel.Sets()[0]
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		g := randomConv(r)
		x, halfX := operand(r, images*g.c*g.h*g.w)
		dy, halfDy := operand(r, images*g.o*g.oh*g.ow)
		name := fmt.Sprintf("seed %d: %+v", seed, *g)
		lines := g.lines()
		got := gradientByLines(g, set, lines, x, dy, images, lines.values, len(lines.begin))
		if far := distance(g, got, x.float, dy.float, images); far > 1e-5 {
			t.Errorf("%s: differs from the definition by %.2g", name, far)
		}
		bits := func(key string, l *pairLines, x, dy stored, values, columns int) {
			other := gradientByLines(g, set, l, x, dy, images, values, columns)
			if !slices.EqualFunc(other, got, sameBits) {
				t.Errorf("%s: other bits %s", name, key)
			}
		}
		bits("with operands of two bytes", lines, halfX, halfDy, lines.values, len(lines.begin))
		bits("in small tasks", lines, x, halfDy, 8, 1)
		if whole := g.wholeLines(); g.ow%2 == 0 {
			bits("in whole lines", whole, halfX, dy, whole.values, len(whole.begin))
			rows := g.rowLines()
			bits("in rows", rows, x, dy, rows.values, len(rows.begin))
		}
	}
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// distance returns the largest difference between a gradient and its definition in float64, relative to the
// sum of the absolute values of the products.
func distance(g *Geometry, dw, x, dy []float32, images int) (worst float64) {
	for i, got := range dw {
		o, c, tap := i/(g.cg*g.taps), i/g.taps%g.cg, i%g.taps
		sum, sizes := 0.0, 1e-30
		for p := range images * g.oh * g.ow {
			image, y := p/(g.oh*g.ow), p%(g.oh*g.ow)
			at := g.Input(y/g.ow, y%g.ow, tap/g.Kernel[1], tap%g.Kernel[1])
			if at < 0 {
				continue
			}
			v := float64(x[image*g.c*g.h*g.w+int(at)/4+o/g.og*g.cg+c]) * float64(dy[p*g.o+o])
			sum, sizes = sum+v, sizes+math.Abs(v)
		}
		worst = max(worst, math.Abs(sum-float64(got))/sizes)
	}
	return worst
}
