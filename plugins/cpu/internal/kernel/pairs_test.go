package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// pairsCase is operands for one call of Pairs.
type pairsCase struct {
	*Pairs
	in, packed []uint16
	out        []float32
	ScaledEpilogue
}

// newPairsCase makes operands for w. If awkward is set, their values have any exponents, otherwise
// magnitudes as in a network.
func newPairsCase(r *rand.Rand, w *Window, size, gap int,
	values func(r *rand.Rand, n int) []float32) *pairsCase {
	c := &pairsCase{Pairs: NewPairs(w), in: make([]uint16, size), packed: make([]uint16, w.PackedLen())}
	Generic.NarrowBF16(c.in, values(r, size))
	offsets := make([]int, w.Taps*w.Run)
	for i := range offsets {
		offsets[i] = i
	}
	src, order := values(r, len(offsets)*w.Width), NewPairsOrder(c.Pairs, offsets)
	for panel := range w.Panels() {
		Sets()[0].PackPairs(c.Pairs, panel, c.packed, src, order, len(offsets), make([]float32, order.Spare()))
	}
	c.out = guarded(r, w.Positions()*(w.Width+gap))
	if r.IntN(3) > 0 {
		c.Bias = values(r, w.BiasLen())
		if r.IntN(2) > 0 {
			c.Scale = values(r, w.BiasLen())
		}
	}
	c.Round = r.IntN(2) > 0
	if r.IntN(2) > 0 {
		c.Plus = values(r, len(c.out))
	}
	if r.IntN(2) > 0 {
		c.Relu, c.Most = true, []float32{1, float32(math.Inf(1))}[r.IntN(2)]
	}
	return c
}

// run computes all panels. Each call ends at one of cuts.
func (c *pairsCase) run(s *Set, cuts ...int) []float32 {
	got := slices.Clone(c.out)
	for panel := range c.Panels() {
		from := 0
		for _, to := range append(cuts, c.Positions()) {
			s.Pairs(c.Pairs, panel, got, c.in, c.packed, c.ScaledEpilogue, from, to, new(Workspace))
			from = to
		}
	}
	return got
}

func normal(r *rand.Rand, n int) []float32 { return slices.Clone(guarded(r, n)) }

// TestPairs checks that all sets have the bits of the definition, also for subnormal, infinite and NaN
// values, and however the positions are divided among calls.
func TestPairs(t *testing.T) {
	type shape struct{ positions, taps, run, width, gap int }
	shapes := []shape{{64, 9, 16, 16, 0}, {49, 9, 32, 32, 0}, {20, 1, 6, 10, 0}, {3, 0, 0, 7, 2},
		{13, 2, 0, 16, 0}}
	for n := range 70 {
		shapes = append(shapes, shape{n, 2, 4, 33, 1}, shape{7, 3, n / 2 * 2, 17, 0}, shape{13, 2, 6, n + 1, 3})
	}
	r := rand.New(rand.NewPCG(5, 5))
	for i, s := range shapes {
		values := normal
		if i%3 == 0 {
			values = awkward
		}
		w := randomWindow(r, s.positions, s.taps, s.run, s.width, s.gap, 200)
		c := newPairsCase(r, w, 200, s.gap, values)
		want := c.run(definition)
		for _, set := range pairsSets() {
			if got := c.run(set); !sameBits(got, want) {
				t.Errorf("%s: %+v: differs from the definition", set.Name, s)
			}
			if got := c.run(set, s.positions/3, s.positions/2); !sameBits(got, want) {
				t.Errorf("%s: %+v: depends on how positions are cut", set.Name, s)
			}
		}
	}
}

// TestPairsSubnormal checks that sums near the smallest normal number have the bits of the definition.
func TestPairsSubnormal(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	tiny := func(r *rand.Rand, n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64() * math.Exp2(-63-float64(r.IntN(12))))
		}
		return x
	}
	for range 50 {
		c := newPairsCase(r, randomWindow(r, 12, 1, 8, 64, 0, 100), 100, 0, tiny)
		c.ScaledEpilogue = ScaledEpilogue{}
		want := c.run(definition)
		for _, set := range pairsSets() {
			if got := c.run(set); !sameBits(got, want) {
				t.Fatalf("%s: differs from the definition", set.Name)
			}
		}
	}
}

// A sum counts as subnormal if it is still below 2^-126 after rounding to 24 bits. So 2^-126 - 2^-150 is
// subnormal, but 2^-126 - 2^-151 is not.
func TestPairsEdge(t *testing.T) {
	for _, c := range []struct {
		less float32
		want float32
	}{{0x1p-87, 0}, {0x1p-88, 0x1p-126}} {
		p := NewPairs(NewWindow([]int32{0}, []int32{0}, 1, 2, 1))
		in, packed := make([]uint16, 2), make([]uint16, p.PackedLen())
		Generic.NarrowBF16(in, []float32{0x1p-63, 0x1p-126})
		order := NewPairsOrder(p, []int{0, 1})
		Generic.PackPairs(p, 0, packed, []float32{-c.less, 1}, order, 2, make([]float32, order.Spare()))
		for _, set := range append(pairsSets(), definition) {
			out := make([]float32, 1)
			set.Pairs(p, 0, out, in, packed, ScaledEpilogue{}, 0, 1, new(Workspace))
			if out[0] != c.want {
				t.Errorf("%s: 2^-126 - %g: got %g, want %g", set.Name, c.less*0x1p-63, out[0], c.want)
			}
		}
	}
}

// TestPairsReach checks that values outside the range of Reach do not change the result of a position.
func TestPairsReach(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	c := newPairsCase(r, randomWindow(r, 30, 2, 4, 16, 0, 300), 300, 0, normal)
	want := c.run(definition)
	in := c.in
	for p := range c.Positions() {
		low, high := c.Reach(p, min(p+2, c.Positions()))
		c.in = slices.Repeat([]uint16{0x7fc0}, len(in))
		copy(c.in[low:high], in[low:])
		got := slices.Clone(c.out)
		definition.Pairs(c.Pairs, 0, got, c.in, c.packed, c.ScaledEpilogue, p, min(p+2, c.Positions()),
			new(Workspace))
		for q := p; q < min(p+2, c.Positions()); q++ {
			if !sameBits(got[q*c.Width:(q+1)*c.Width], want[q*c.Width:(q+1)*c.Width]) {
				t.Fatalf("position %d: other bits from the values [%d, %d)", q, low, high)
			}
		}
	}
}

// The results of pairs differ from sums in float64 by no more than the rounding of float32 sums and the
// rounding of the result to bfloat16.
func TestPairsPrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	c := newPairsCase(r, randomWindow(r, 24, 3, 32, 48, 0, 400), 400, 0, normal)
	c.ScaledEpilogue = ScaledEpilogue{Round: true}
	got := c.run(Sets()[0])
	for p := range c.Positions() {
		for o := range c.Width {
			sum, size := 0.0, 0.0
			for t := range c.Taps {
				for k := range c.Run {
					if at := c.half[t*c.Positions()+p]; at >= 0 {
						x := float64(widened(c.in[int(at)/2+k]))
						w := float64(widened(c.packed[((t*c.Run+k)/2*48+o)*2+k%2]))
						sum, size = sum+x*w, size+math.Abs(x*w)
					}
				}
			}
			if d := math.Abs(float64(got[p*c.Width+o]) - sum); d > 0x1p-8*math.Abs(sum)+0x1p-20*size {
				t.Fatalf("position %d, channel %d: got %v, want %v", p, o, got[p*c.Width+o], sum)
			}
		}
	}
}

func BenchmarkPairs(b *testing.B) {
	for _, s := range []struct{ side, taps, in, out int }{
		{56, 1, 64, 256}, {56, 1, 256, 64}, {14, 1, 1024, 256}, {14, 1, 256, 1024}, {14, 9, 128, 128},
		{32, 9, 16, 16}, {16, 9, 32, 32},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		positions := s.side * s.side
		in, out := make([]int32, s.taps*positions), make([]int32, positions)
		for p := range positions {
			for t := range s.taps {
				in[t*positions+p] = int32(4 * s.in * ((p + t) % positions))
			}
			out[p] = int32(4 * s.out * p)
		}
		c := newPairsCase(r, NewWindow(in, out, s.taps, s.in, s.out), positions*s.in, 0, normal)
		for _, set := range pairsSets() {
			b.Run(fmt.Sprintf("%dx%dx%dx%d/%s", s.side, s.taps, s.in, s.out, set.Name), func(b *testing.B) {
				spare := new(Workspace)
				for b.Loop() {
					for panel := range c.Panels() {
						set.Pairs(c.Pairs, panel, c.out, c.in, c.packed, c.ScaledEpilogue, 0, positions, spare)
					}
				}
				rate := 2 * float64(positions*s.taps*s.in*s.out) * float64(b.N) / b.Elapsed().Seconds()
				b.ReportMetric(rate/1e9, "GFLOP/s")
			})
		}
	}
}
