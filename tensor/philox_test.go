package tensor

import (
	"math"
	"slices"
	"testing"
)

// The vectors come from the authors: Random123, tests/kat_vectors, the lines "philox4x32 10".
func TestPhiloxVectors(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := philox4x32(c.counter, c.key); got != c.want {
			t.Errorf("philox4x32(%08x, %08x) = %08x, want %08x", c.counter, c.key, got, c.want)
		}
	}
}

func TestBlockPlacesTheCounter(t *testing.T) {
	p := Philox{Key: [2]uint32{0xa4093822, 0x299f31d0}}
	got := p.Block(0x85a308d3, 0x03707344_13198a2e, 0x243f6a88)
	want := [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}
	if got != want {
		t.Errorf("Block = %08x, want %08x", got, want)
	}
}

func TestStreamsAndSeedsDiffer(t *testing.T) {
	seen := map[[2]uint32]bool{}
	for _, seed := range []uint64{0, 1, 1 << 32, math.MaxUint64} {
		for _, s := range []Stream{StreamInit, StreamOrder, StreamAugment, StreamGlyphs, StreamDelay,
			StreamDropout} {
			key := NewPhilox(seed, s).Key
			if seen[key] {
				t.Errorf("seed %d stream %d: key %08x was seen before", seed, s, key)
			}
			seen[key] = true
		}
	}
}

func TestDrawsAreTheBlocksInOrder(t *testing.T) {
	p := NewPhilox(7, StreamAugment)
	d := p.Draws(3, 5)
	for block := range uint32(3) {
		for i, want := range p.Block(3, 5, block) {
			if got := d.Uint32(); got != want {
				t.Fatalf("word %d of block %d = %08x, want %08x", i, block, got, want)
			}
		}
	}
}

func TestIntnIsUniform(t *testing.T) {
	d := NewPhilox(1, StreamOrder).Draws(0, 0)
	const n, draws = 7, 70000
	var count [n]int
	for range draws {
		count[d.Intn(n)]++
	}
	chi := 0.0
	for _, c := range count {
		chi += float64((c-draws/n)*(c-draws/n)) / (draws / n)
	}
	if chi > 22.5 { // upper limit at a probability of 0.1 % for 6 degrees of freedom
		t.Errorf("chi square %.1f for counts %v", chi, count)
	}
}

func TestIntnBounds(t *testing.T) {
	d := NewPhilox(1, StreamOrder).Draws(0, 0)
	if got := d.Intn(1); got != 0 {
		t.Errorf("Intn(1) = %d", got)
	}
	if got := d.Intn(math.MaxUint32); got < 0 || got >= math.MaxUint32 {
		t.Errorf("Intn(2^32-1) = %d", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("Intn(0) did not panic")
		}
	}()
	d.Intn(0)
}

func TestPermIsAPermutation(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		d := NewPhilox(1, StreamOrder).Draws(0, 0)
		p := d.Perm(n)
		slices.Sort(p)
		for i, v := range p {
			if i != v {
				t.Fatalf("Perm(%d) sorted has %d at %d", n, v, i)
			}
		}
	}
}

func TestNormalMoments(t *testing.T) {
	d := NewPhilox(1, StreamInit).Draws(0, 0)
	const n = 200000
	var sum, squares, fourth float64
	for range n {
		x := d.Normal()
		sum, squares, fourth = sum+x, squares+x*x, fourth+x*x*x*x
	}
	// Each tolerance is five standard errors.
	for _, c := range []struct {
		name      string
		got, want float64
		tolerance float64
	}{
		{"mean", sum / n, 0, 5 / math.Sqrt(n)},
		{"variance", squares / n, 1, 5 * math.Sqrt(2./n)},
		{"fourth moment", fourth / n, 3, 5 * math.Sqrt(96./n)},
	} {
		if math.Abs(c.got-c.want) > c.tolerance {
			t.Errorf("%s = %g, want %g within %g", c.name, c.got, c.want, c.tolerance)
		}
	}
}

func TestNormalPairAtTheEnds(t *testing.T) {
	for _, u := range []uint32{0, 1, math.MaxUint32} {
		for _, v := range []uint32{0, 1, math.MaxUint32} {
			a, b := NormalPair(u, v)
			if !(math.Hypot(a, b) <= 6.8) {
				t.Errorf("NormalPair(%d, %d) = %g, %g", u, v, a, b)
			}
		}
	}
}

// These values were computed by this package on linux/amd64; every machine
// must compute the same bits.
func TestDrawsGolden(t *testing.T) {
	d := NewPhilox(42, StreamInit).Draws(1, 2)
	got := []uint64{
		uint64(math.Float32bits(d.Float32())), math.Float64bits(d.Float64()), uint64(d.Intn(1000)),
		math.Float64bits(d.Between(-1, 3)), math.Float64bits(d.Normal()), math.Float64bits(d.Normal()),
	}
	want := []uint64{
		0x3f3a8a6e, 0x3fe611820b9d0c1e, 0x154, 0x3ffb50d5b9f39920, 0xbfce47fff2e22ae9, 0xbff153c42d0a0470,
	}
	if !slices.Equal(got, want) {
		t.Errorf("draws = %#x, want %#x", got, want)
	}
}
