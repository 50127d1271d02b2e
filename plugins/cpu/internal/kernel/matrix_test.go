package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// matrixDefinition is a set without assembly that computes Matrix as class amx defines it.
var matrixDefinition = &Set{Name: "definition", Class: "amx", fused: true}

// matrixSets returns the sets that Matrix can be tested with: the sets of class amx of this
// machine, if it has matrix units or their emulation.
func matrixSets() []*Set {
	return slices.DeleteFunc(Sets(), func(s *Set) bool { return s.matrix == nil })
}

// matrixCase is a product by matrix units with its operands.
type matrixCase struct {
	*Matrix
	in, src, out []float32
	offsets      []int
	packed       []uint16
	weights      Extent
	finish       ScaledEpilogue
}

// newMatrixCase makes a case with random values. The image has size values. The weights, [Width][Taps*Run],
// are packed.
func newMatrixCase(r *rand.Rand, w *Window, parts, gap, size int) *matrixCase {
	c := &matrixCase{Matrix: NewMatrix(w, parts), in: guarded(r, size), offsets: make([]int, w.Taps*w.Run)}
	c.out = guarded(r, w.Positions()*(w.Width+gap))
	for i := range c.offsets {
		c.offsets[i] = i
	}
	c.src = guarded(r, len(c.offsets)*w.Width)
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
	c.pack(matrixDefinition)
	return c
}

// pack packs the weights with set s.
func (c *matrixCase) pack(s *Set) {
	c.packed, c.weights = make([]uint16, c.PackedLen()), NoExtent()
	for panel := range c.Panels() {
		extent := s.PackMatrix(c.Matrix, panel, c.packed, c.src, c.offsets, len(c.offsets), Factor{})
		c.weights = c.weights.Join(extent)
	}
}

// run computes all positions, in pieces that end at cuts. It returns the result and the positions that
// were left out.
func (c *matrixCase) run(s *Set, spare *MatrixWorkspace, cuts ...int) (out []float32, apart []int32) {
	out = slices.Clone(c.out)
	in := make([]uint16, len(c.in))
	s.NarrowBF16(in, c.in)
	from, f := 0, c.finish
	for _, to := range append(cuts, c.Positions()) {
		for panel := 0; panel < c.Panels(); panel += 2 { // two panels at a time
			last := min(panel+2, c.Panels())
			if c.Terms == 1 {
				s.MatrixBF16(c.Matrix, panel, last, out, in, c.packed, f, from, to, spare)
				continue
			}
			left := s.MatrixF32(c.Matrix, panel, last, out, c.in, c.packed, c.weights, f.Bias, f.Epilogue,
				from, to, spare)
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
	shapes := []shape{{64, 9, 32, 16, 0}, {49, 1, 64, 80, 0}, {3, 0, 32, 7, 2}, {33, 2, 96, 64, 0},
		{90, 1, 32, 130, 3}}
	for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65} {
		shapes = append(shapes, shape{n, 2, 32, 33, 1}, shape{13, 2, 32, n + 1, 3})
	}
	r := rand.New(rand.NewPCG(21, 1))
	spare := new(MatrixWorkspace)
	for _, s := range shapes {
		for _, parts := range []int{1, 3} {
			what := fmt.Sprintf("%d parts, %+v", parts, s)
			w := randomWindow(r, s.positions, s.taps, s.run, s.width, s.gap, 400)
			if s.taps == 1 && s.run == 64 {
				w = plainWindow(s.positions, s.run, s.width)
			}
			c := newMatrixCase(r, w, parts, s.gap, max(400, w.inNeed))
			want, apart := c.run(matrixDefinition, spare)
			if len(apart) > 0 {
				t.Errorf("%s: positions %d lie apart, want none", what, apart)
			}
			if got, _ := c.run(matrixDefinition, spare, s.positions/3, s.positions/2); !sameBits(got, want) {
				t.Errorf("%s: depends on how positions are cut", what)
			}
			for _, set := range matrixSets() {
				packed, weights := c.packed, c.weights
				if c.pack(set); !slices.Equal(c.packed, packed) || c.weights != weights {
					t.Errorf("%s: %s packs other weights than the definition", what, set.Name)
				}
				if got, _ := c.run(set, spare); !sameBits(got, want) {
					t.Errorf("%s: %s differs from the definition", what, set.Name)
				}
			}
			checkMatrix(t, what, c, want)
		}
	}
}

// checkMatrix compares a result with the result of Window for the same operands.
func checkMatrix(t *testing.T, what string, c *matrixCase, got []float32) {
	t.Helper()
	in, src, tolerance := c.in, c.src, 2e-6
	f, scale := c.finish, c.finish.Scale
	if c.Terms == 1 {
		in, src, tolerance = slices.Clone(in), slices.Clone(src), 5e-3
		Generic.RoundBF16(in)
		Generic.RoundBF16(src)
	}
	packed := make([]float32, c.Window.PackedLen())
	for panel := range c.Panels() {
		Generic.Pack(c.Window, panel, packed, src, NewOrder(c.offsets), len(c.offsets), Factor{})
	}
	want := slices.Clone(c.out)
	for panel := range c.Panels() {
		definition.Window(c.Window, panel, want, in, packed, nil, Epilogue{}, 0, c.Positions(), new(Workspace))
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
			want[i] = f.applyTo(i, want[i])
			if d := math.Abs(float64(got[i] - want[i])); !(d <= tolerance*(10+math.Abs(float64(want[i])))) {
				t.Fatalf("%s: position %d, channel %d: %g, want about %g", what, p, j, got[i], want[i])
			}
		}
	}
}

// TestMatrixStage checks that positions are staged as the definition stages them. It also runs where there
// are no matrix units to multiply them.
func TestMatrixStage(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 5))
	for _, parts := range []int{1, 3} {
		for _, count := range []int{1, 15, 16, 17, 31, 32} {
			c := newMatrixCase(r, randomWindow(r, 50, 3, 64, 16, 0, 400), parts, 0, 400)
			c.in[200] = float32(math.Inf(1))
			var want []uint16
			var apart []int32
			for _, s := range stagingSets() {
				spare, in := new(MatrixWorkspace), make([]uint16, len(c.in))
				spare.stage(c.Matrix, MatrixPositions)
				Generic.NarrowBF16(in, c.in)
				if parts == 1 {
					s.gather(c.Matrix, spare.aligned, in, 10, 10+count)
				} else {
					s.split(c.Matrix, spare.aligned, c.in, c.weights, 10, 10+count, spare)
				}
				got := spare.aligned[:c.Steps()*parts*2*tileLen]
				if s == matrixDefinition {
					want, apart = slices.Clone(got), slices.Clone(spare.outside)
				}
				if !slices.EqualFunc(got, want, sameHalf) || !slices.Equal(spare.outside, apart) {
					t.Errorf("%s: %d parts of %d positions differ from the definition", s.Name, parts, count)
				}
			}
		}
	}
}

// sameHalf reports whether a and b are the same bfloat16. All NaNs count as the same.
func sameHalf(a, b uint16) bool {
	return a == b || widened(a) != widened(a) && widened(b) != widened(b)
}
