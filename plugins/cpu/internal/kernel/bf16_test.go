package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// ofBits returns the float32 numbers with the given bits.
func ofBits(bits ...uint32) []float32 {
	var x []float32
	for _, b := range bits {
		x = append(x, math.Float32frombits(b))
	}
	return x
}

func TestBF16(t *testing.T) {
	for _, c := range []struct {
		bits uint32
		want uint16
	}{
		{0x3f800000, 0x3f80},                       // 1
		{0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, // ties are rounded to even
		{0x3f808001, 0x3f81}, {0xbf807fff, 0xbf80}, // other values are rounded to the nearest
		{0x7f7fffff, 0x7f80}, {0x7f7f7fff, 0x7f7f}, // the largest become infinite
		{0x7f800000, 0x7f80}, {0xff800000, 0xff80}, {0x80000000, 0x8000},
		{0x7f800001, 0x7fc0}, {0xffffffff, 0x7fc0}, // NaN
		{0x007fffff, 0}, {0x80000001, 0x8000}, {0x00800000, 0x0080}, // subnormal values, and one that is not
	} {
		if got := bf16(math.Float32frombits(c.bits)); got != c.want {
			t.Errorf("%#08x: got %#04x, want %#04x", c.bits, got, c.want)
		}
	}
}

// awkward returns n values of any exponent, some of them not finite.
func awkward(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = math.Float32frombits(r.Uint32())
		if i%3 == 0 { // few bits are set after the bits of a bfloat16
			x[i] = math.Float32frombits(math.Float32bits(x[i]) &^ 0x7fff)
		}
		if i%7 == 0 { // near the smallest normal number
			x[i] = math.Float32frombits(0x00800000 + uint32(r.IntN(1<<17)) - 1<<16)
		}
	}
	return x
}

// TestRoundBF16 checks that all sets round as the definition does, and change nothing beyond the end.
func TestRoundBF16(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for n := range 200 {
		x := awkward(r, n+1)[:n]
		want := make([]float32, n)
		for i, v := range x {
			want[i] = widened(bf16(v))
		}
		for _, s := range append(pairsSets(), Generic) {
			got := append(slices.Clone(x), 3)
			s.RoundBF16(got[:n])
			narrow := make([]uint16, n+1)
			narrow[n] = 3
			s.NarrowBF16(narrow[:n], x)
			if got[n] != 3 || narrow[n] != 3 {
				t.Fatalf("%s: %d values: wrote behind them", s.Name, n)
			}
			wide := make([]float32, n)
			for i := range wide {
				wide[i] = widened(narrow[i])
			}
			if !sameBits(got[:n], want) || !sameBits(wide, want) {
				t.Fatalf("%s: %d values: differs from the definition", s.Name, n)
			}
			again := append(make([]float32, n), 3)
			s.WidenBF16(again[:n], narrow[:n])
			if again[n] != 3 || !sameBits(again[:n], want) {
				t.Fatalf("%s: %d values: widens differently", s.Name, n)
			}
		}
	}
}

func TestFuseFlushed(t *testing.T) {
	const edge, top = 0x00800000, 0x3f800000
	for _, c := range []struct{ x, y, z, want uint32 }{
		{top, top, top, 0x40000000},
		{edge, top, 0x80000001, edge},              // a subnormal operand is 0
		{0x80000001, top, 0x80000000, 0x80000000},  // a zero with the sign of the subnormal number
		{edge, 0x3f7f0000, 0, 0},                   // a subnormal result is 0
		{edge, 0xbf7f0000, 0x80000000, 0x80000000}, // a zero with the sign of the subnormal number
		{0x20000000, 0x94000000, 0x00800000, 0},    // just below the smallest: 2^-126 - 2^-150
		{0x20000000, 0x93800000, 0x00800000, edge}, // rounded to it: 2^-126 - 2^-151
		{0x7f7f0000, 0x7f7f0000, 0, 0x7f800000},    // too large
		{0x7f7f0000, 0x7f7f0000, 0xff800000, 0xff800000},
	} {
		v := ofBits(c.x, c.y, c.z, c.want)
		if got := fuseFlushed(v[0], v[1], v[2]); math.Float32bits(got) != c.want {
			t.Errorf("%#x*%#x + %#x: got %#08x, want %#08x", c.x, c.y, c.z, math.Float32bits(got), c.want)
		}
	}
}
