package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// matrixDefinition is the generic set with what class amx computes.
var matrixDefinition = &Set{Name: "definition", Class: "amx", fused: true}

// matrixSets returns the sets that Matrix can be tested with: those of class
// amx of this machine, if it has matrix units or their emulation.
func matrixSets() []*Set {
	return slices.DeleteFunc(Sets(), func(s *Set) bool { return s.matrix == nil })
}

// matrixCase is a product by matrix units with its operands.
type matrixCase struct {
	Matrix
	in, src, out []float32
	at           []int
	packed       []uint16
	weights      Extent
	finish       Finish
}

// newMatrixCase makes one of random values; the weights of [Width][Taps*Run] are packed.
func newMatrixCase(r *rand.Rand, w *Window, parts, gap int) *matrixCase {
	c := &matrixCase{Matrix: Matrix{w, parts}, in: guarded(r, 400), at: make([]int, w.Taps*w.Run)}
	c.out = guarded(r, w.Positions()*(w.Width+gap))
	for i := range c.at {
		c.at[i] = i
	}
	c.src = guarded(r, len(c.at)*w.Width)
	if r.IntN(3) > 0 {
		c.finish.Bias = guarded(r, w.BiasLen())
		if parts == 1 && r.IntN(2) == 0 {
			c.finish.Scale = guarded(r, w.BiasLen())
		}
	}
	if r.IntN(2) == 0 {
		c.finish.Plus = guarded(r, len(c.out))
	}
	c.finish.Round = parts == 1 && r.IntN(2) == 0
	if r.IntN(2) == 0 {
		c.finish.Relu, c.finish.Most = true, 1.5
	}
	c.pack()
	return c
}

// pack packs the weights.
func (c *matrixCase) pack() {
	c.packed, c.weights = make([]uint16, c.PackedLen()), Extent{Least: 1<<32 - 1}
	for panel := range c.Panels() {
		c.weights = c.weights.Join(c.Pack(panel, c.packed, c.src, c.at, len(c.at), nil))
	}
}

// run computes all positions, cut at these, and returns the result with the
// positions that were left out.
func (c *matrixCase) run(s *Set, spare *MatrixScratch, cuts ...int) (out []float32, apart []int32) {
	out = slices.Clone(c.out)
	from := 0
	for _, to := range append(cuts, c.Positions()) {
		for panel := range c.Panels() {
			left := s.Matrix(c.Matrix, panel, panel+1, out, c.in, c.packed, c.weights, c.finish, from, to, spare)
			if panel == 0 {
				apart = append(apart, left...)
			}
		}
		from = to
	}
	return out, apart
}

func TestMatrix(t *testing.T) {
	type shape struct{ positions, taps, run, width, gap int }
	shapes := []shape{{64, 9, 16, 16, 0}, {49, 1, 64, 80, 0}, {3, 0, 0, 7, 2}, {13, 2, 0, 16, 0}, {33, 2, 40, 64, 0},
		{90, 1, 32, 130, 3}}
	for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65} {
		shapes = append(shapes, shape{n, 2, 3, 33, 1}, shape{7, 3, n, 17, 0}, shape{13, 2, 6, n + 1, 3})
	}
	r := rand.New(rand.NewPCG(21, 1))
	spare := new(MatrixScratch)
	for _, s := range shapes {
		for _, parts := range []int{1, 3} {
			what := fmt.Sprintf("%d parts, %+v", parts, s)
			w := randomWindow(r, s.positions, s.taps, s.run, s.width, s.gap, 400)
			c := newMatrixCase(r, w, parts, s.gap)
			want, apart := c.run(matrixDefinition, spare)
			if len(apart) > 0 {
				t.Errorf("%s: positions %d lie apart, want none", what, apart)
			}
			if got, _ := c.run(matrixDefinition, spare, s.positions/3, s.positions/2); !sameBits(got, want) {
				t.Errorf("%s: depends on how positions are cut", what)
			}
			for _, set := range matrixSets() {
				if got, _ := c.run(set, spare); !sameBits(got, want) {
					t.Errorf("%s: %s differs from the definition", what, set.Name)
				}
			}
			checkMatrix(t, what, c, want)
		}
	}
}

// checkMatrix compares a result with what Window makes of the same operands.
func checkMatrix(t *testing.T, what string, c *matrixCase, got []float32) {
	t.Helper()
	in, src, tolerance := c.in, c.src, 2e-6
	f, scale := c.finish, c.finish.Scale
	if c.Parts == 1 {
		in, src, tolerance = slices.Clone(in), slices.Clone(src), 5e-3
		Generic.RoundBF16(in)
		Generic.RoundBF16(src)
	}
	packed := make([]float32, c.Window.PackedLen())
	for panel := range c.Panels() {
		c.Window.Pack(panel, packed, src, c.at, len(c.at), Factor{})
	}
	want := slices.Clone(c.out)
	for panel := range c.Panels() {
		definition.Window(c.Window, panel, want, in, packed, nil, Ending{}, 0, c.Positions(), new(Scratch))
	}
	for p := range c.Positions() {
		for j := range c.Width {
			i := int(c.Out[p])/4 + j
			if scale != nil {
				want[i] *= scale[j]
			}
			if f.Bias != nil {
				want[i] += f.Bias[j]
			}
			want[i] = f.at(i, want[i])
			if d := math.Abs(float64(got[i] - want[i])); !(d <= tolerance*(10+math.Abs(float64(want[i])))) {
				t.Fatalf("%s: position %d, channel %d: %g, want about %g", what, p, j, got[i], want[i])
			}
		}
	}
}
