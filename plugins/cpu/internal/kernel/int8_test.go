package kernel

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// int8Sets returns a set for each way of multiplying bytes that this machine has.
func int8Sets() []*Set {
	sets := []*Set{{Name: "definition"}}
	for name, k := range int8Native() {
		sets = append(sets, &Set{Name: name, int8: k})
	}
	return sets
}

// int8Case is a product of bytes with its operands. The bytes around the result are 77.
type int8Case struct {
	*Int8
	in      []uint8
	weights []int8 // [Width][Taps*Run]
	Requantise
	gap int
}

func newInt8Case(r *rand.Rand, positions, taps, run, width, gap int) *int8Case {
	size := max(400, 4*run)
	w := randomWindow(r, positions, taps, run, width, gap, size)
	if taps == 1 && run >= 60 {
		w = plainWindow(positions, run, width+gap)
		w = NewWindow(w.In, w.Out, 1, run, width)
	}
	size = max(size, w.inNeed)
	c := &int8Case{Int8: NewInt8(w, uint8(r.IntN(256))), in: make([]uint8, size+64), gap: gap,
		weights: make([]int8, width*taps*run)}
	extreme := r.IntN(3) == 0
	for i := range c.in {
		c.in[i] = uint8(r.IntN(256))
		if extreme {
			c.in[i] = 255
		}
	}
	for i := range c.weights {
		c.weights[i] = int8(r.IntN(256) - 128)
		if extreme {
			c.weights[i] = int8(127 - 255*(i/max(1, taps*run)%2))
		}
	}
	c.Start, c.By = make([]int32, w.BiasLen()), make([]float32, w.BiasLen())
	for i := range width {
		c.Start[i] = int32(r.IntN(2001) - 1000)
		c.By[i] = float32(r.Float64() * 4 / float64(1+taps*run))
		if r.IntN(20) == 0 {
			c.By[i] = 1e30
		}
	}
	c.Requantise.Int8 = randomInt8(r)
	return c
}

// run computes all positions. Each call ends at one of cuts.
func (c *int8Case) run(s *Set, spare *Int8Workspace, cuts ...int) []uint8 {
	out := slices.Repeat([]uint8{77}, c.Positions()*(c.Width+c.gap)+64)
	packed, offsets := make([]int8, c.PackedLen()), make([]int, c.Taps*c.Run)
	for i := range offsets {
		offsets[i] = i
	}
	for panel := range c.Panels() {
		s.PackInt8(c.Int8, panel, packed, c.weights, offsets, len(offsets))
	}
	rounded := c.Requantise
	rounded.Start = slices.Clone(c.Start)
	for o := range c.Width {
		sum := int32(0)
		for _, w := range c.weights[o*len(offsets) : (o+1)*len(offsets)] {
			sum += int32(w)
		}
		rounded.Start[o] = s.StartInt8(c.Start[o], sum)
	}
	from := 0
	for _, to := range append(cuts, c.Positions()) {
		s.Int8(c.Int8, 0, c.Panels(), out, c.in, packed, rounded, from, to, spare)
		from = to
	}
	return out
}

// exact computes one result without rounding, in integers of any size.
func (c *int8Case) exact(p, o int) uint8 {
	sum := int64(c.Start[o])
	for t := range c.Taps {
		for k := range c.Run {
			x := c.pad[0]
			if at := c.Int8.in[t*c.Positions()+p]; at >= 0 {
				x = c.in[int(at)+k]
			}
			sum += int64(x) * int64(c.weights[(o*c.Taps+t)*c.Run+k])
		}
	}
	return exactByte(c.Requantise.Int8, float32(sum)*c.By[o])
}

// exactByte rounds v, a finite number, to a byte with exact fractions.
func exactByte(q class.Int8, v float32) uint8 {
	x := new(big.Rat).SetFloat64(float64(v))
	two := big.NewInt(2)
	twice := new(big.Int).Mul(x.Num(), two)
	whole := new(big.Int).Div(twice.Add(twice, x.Denom()), new(big.Int).Mul(x.Denom(), two)) // floor(v + 1/2)
	above := new(big.Rat).Sub(new(big.Rat).SetInt(whole), x)
	if above.Cmp(big.NewRat(1, 2)) == 0 && whole.Bit(0) == 1 {
		whole.Sub(whole, big.NewInt(1))
	}
	whole.Add(whole, big.NewInt(int64(q.Zero)))
	switch {
	case whole.Cmp(big.NewInt(int64(q.Max))) > 0:
		return uint8(q.Max)
	case whole.Cmp(big.NewInt(int64(q.Min))) < 0:
		return uint8(q.Min)
	}
	return uint8(whole.Int64())
}

// randomInt8 returns parameters for rounding results. Often their bounds are narrower than the range of a
// byte.
func randomInt8(r *rand.Rand) class.Int8 {
	q := class.Int8{Zero: int32(r.IntN(256)), Max: 255}
	if r.IntN(2) == 0 {
		q.Min, q.Max = int32(r.IntN(100)), int32(100+r.IntN(156))
	}
	return q
}

// firstOther returns the first index at which a and b differ, or -1.
func firstOther[T comparable](a, b []T) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// TestInt8 checks that every way of multiplying bytes gives the bytes of exact sums, for any shape, and
// leaves the memory around a result unchanged.
func TestInt8(t *testing.T) {
	type shape struct{ positions, taps, run, width, gap int }
	shapes := []shape{{64, 9, 32, 16, 0}, {49, 1, 64, 80, 0}, {3, 0, 32, 7, 2}, {33, 2, 96, 64, 0},
		{90, 1, 32, 130, 3}, {70, 1, 61, 40, 0}, {40, 9, 3, 24, 0}, {37, 7, 21, 64, 0},
		{150, 2, 65, 65, 5}, {11, 3, 0, 5, 0},
		{5, 9, 512, 33, 0}, {17, 1, 2048, 70, 0}}
	for _, n := range []int{0, 1, 2, 5, 11, 12, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65} {
		shapes = append(shapes, shape{n, 2, 32, 33, 1}, shape{13, 2, n + 1, n + 3, 3}, shape{50, 1, 60 + n, 64, 0})
	}
	sets, spare := int8Sets(), new(Int8Workspace)
	for seed := range 3 {
		r := rand.New(rand.NewPCG(46, uint64(seed)))
		for _, s := range shapes {
			c := newInt8Case(r, s.positions, s.taps, s.run, s.width, s.gap)
			want := c.run(sets[0], spare)
			for range min(20, s.positions) {
				p, o := r.IntN(s.positions), r.IntN(s.width)
				if got := want[int(c.Out[p])/4+o]; got != c.exact(p, o) {
					t.Fatalf("%+v: position %d, channel %d is %d, want %d", s, p, o, got, c.exact(p, o))
				}
			}
			for _, set := range sets {
				for _, cuts := range [][]int{nil, {s.positions / 3, s.positions / 2}} {
					if got := c.run(set, spare, cuts...); !slices.Equal(got, want) {
						i := firstOther(got, want)
						t.Errorf("%s: %+v cut at %d: byte %d is %d, want %d", set.Name, s, cuts, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// TestInt8Saturation checks that no instruction adds products in 16 bits: 2*255*127 would be clamped to
// 32767.
func TestInt8Saturation(t *testing.T) {
	for _, set := range int8Sets() {
		for _, weight := range []int8{127, -127, -128} {
			const run, positions, width = 2048, 34, 64
			c := &int8Case{Int8: NewInt8(plainWindow(positions, run, width), 0)}
			c.in = slices.Repeat([]uint8{255}, positions*run+64)
			c.weights = slices.Repeat([]int8{weight}, run*width)
			c.Start, c.By = make([]int32, width), slices.Repeat([]float32{1.0 / (1 << 19)}, width)
			c.Requantise.Int8 = class.Int8{Zero: 128, Max: 255}
			var want uint8
			if r := float64(255*run) * float64(weight) / (1 << 19); r < 0 {
				want = uint8(128 + int(r-0.5))
			} else {
				want = uint8(128 + int(r+0.5))
			}
			if got := c.run(set, new(Int8Workspace)); got[0] != want || got[positions*width-1] != want {
				t.Errorf("%s: %d products of 255 and %d become %d, want %d", set.Name, run, weight, got[0], want)
			}
		}
	}
}

// BenchmarkInt8 measures the multiplications per nanosecond of every way of multiplying bytes.
func BenchmarkInt8(b *testing.B) {
	for _, s := range []struct{ positions, taps, run, width int }{{196, 9, 256, 64}, {784, 1, 128, 64},
		{784, 1, 16, 96}, {196, 1, 64, 384}, {49, 1, 512, 2048}} {
		r := rand.New(rand.NewPCG(1, 1))
		c := newInt8Case(r, s.positions, s.taps, s.run, s.width, 0)
		for _, set := range int8Sets() {
			b.Run(fmt.Sprintf("%s/%dx%dx%dx%d", set.Name, s.positions, s.taps, s.run, s.width), func(b *testing.B) {
				out := make([]uint8, c.Positions()*c.Width+64)
				packed := make([]int8, c.PackedLen())
				offsets := make([]int, c.Taps*c.Run)
				for i := range offsets {
					offsets[i] = i
				}
				for panel := range c.Panels() {
					set.PackInt8(c.Int8, panel, packed, c.weights, offsets, len(offsets))
				}
				spare := new(Int8Workspace)
				b.ResetTimer()
				for range b.N {
					set.Int8(c.Int8, 0, c.Panels(), out, c.in, packed, c.Requantise, 0, c.Positions(), spare)
				}
				b.ReportMetric(float64(s.positions*s.taps*s.run*s.width)*float64(b.N)/float64(b.Elapsed().Nanoseconds()),
					"products/ns")
			})
		}
	}
}
