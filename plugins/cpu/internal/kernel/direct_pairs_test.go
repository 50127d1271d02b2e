package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// directPairsCase is operands for DirectPairs; weights are packed by PackPairs.
type directPairsCase struct {
	Direct
	in, packed []uint16
	src        []float32
	out        []float32
	ScaledEpilogue
}

func newDirectPairsCase(r *rand.Rand, t Direct, count int,
	values func(r *rand.Rand, n int) []float32) *directPairsCase {
	c := &directPairsCase{Direct: t, in: make([]uint16, (t.Rows-1)*t.RowStep+(count+DirectWidth-1)*t.Run),
		packed: make([]uint16, t.PackedLen()), out: guarded(r, (count-1)*t.GradStep+Lanes)}
	Generic.NarrowBF16(c.in, values(r, len(c.in)))
	offsets := make([]int, t.Rows*t.Run*DirectWidth)
	for i := range offsets {
		offsets[i] = i
	}
	c.src = values(r, len(offsets)*Lanes)
	w := NewPairs(NewWindow(nil, nil, t.Rows, DirectWidth*t.Run, Lanes))
	order := NewPairsOrder(w, t.DirectPairsAt(offsets))
	Generic.PackPairs(w, 0, c.packed, c.src, order, len(offsets), make([]float32, order.Spare()))
	if r.IntN(2) > 0 {
		c.Bias = values(r, Lanes)
		if r.IntN(2) > 0 {
			c.Scale = values(r, Lanes)
		}
	}
	if r.IntN(2) > 0 {
		c.Plus = values(r, len(c.out))
	}
	c.Relu, c.Most, c.Round = r.IntN(2) > 0, 2, r.IntN(2) > 0
	return c
}

// run computes count positions, in two calls that are divided at position cut.
func (c *directPairsCase) run(s *Set, count, cut int) []float32 {
	got := slices.Clone(c.out)
	if cut > 0 {
		s.DirectPairs(c.Direct, got, c.in, c.packed, c.ScaledEpilogue, cut)
	}
	f := c.ScaledEpilogue
	f.Epilogue = f.Epilogue.From(cut * c.GradStep)
	s.DirectPairs(c.Direct, got[cut*c.GradStep:], c.in[cut*c.Run:], c.packed, f, count-cut)
	return got
}

// TestDirectPairs checks that all sets have the bits of the definition, however a row is cut, and that the
// definition is the sum of products.
func TestDirectPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for count := 1; count < 40; count++ {
		values := normal
		if count%3 == 0 {
			values = awkward
		}
		run := 2 * (1 + r.IntN(10))
		c := newDirectPairsCase(r, Direct{Rows: 1 + r.IntN(3), Run: run, RowStep: run * (count + 5),
			GradStep: Lanes + 3*r.IntN(2)}, count, values)
		want := c.run(definition, count, 0)
		for _, set := range pairsSets() {
			if got := c.run(set, count, 0); !sameBits(got, want) {
				t.Errorf("%s: %d positions of %+v: differs from the definition", set.Name, count, c.Direct)
			}
			if got := c.run(set, count, count/3); !sameBits(got, want) {
				t.Errorf("%s: %d positions of %+v: depends on the cut", set.Name, count, c.Direct)
			}
		}
		if count%3 == 0 {
			continue
		}
		c.ScaledEpilogue = ScaledEpilogue{}
		got := c.run(definition, count, 0)
		for o := range Lanes {
			if want := c.sum(count-1, o); math.Abs(float64(got[(count-1)*c.GradStep+o])-want) > 1e-3 {
				t.Fatalf("%+v, channel %d: got %v, want %v", c.Direct, o, got[(count-1)*c.GradStep+o], want)
			}
		}
	}
}

// sum returns the sum of products of a position and a channel.
func (c *directPairsCase) sum(p, o int) (sum float64) {
	for i := range c.Rows {
		for k := range c.Run {
			for j := range DirectWidth {
				x := widened(c.in[i*c.RowStep+(p+j)*c.Run+k])
				at := (i*c.Run+k)*DirectWidth + j
				sum += float64(x) * float64(widened(bf16(c.src[o*c.Rows*c.Run*DirectWidth+at])))
			}
		}
	}
	return sum
}

func BenchmarkDirectPairs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const count, run = 32, 16
	t := Direct{Rows: 3, Run: run, RowStep: run * (count + 2), GradStep: Lanes}
	c := newDirectPairsCase(r, t, count, normal)
	for _, set := range pairsSets() {
		b.Run(fmt.Sprintf("%dx%d/%s", count, run, set.Name), func(b *testing.B) {
			for b.Loop() {
				set.DirectPairs(c.Direct, c.out, c.in, c.packed, c.ScaledEpilogue, count)
			}
			rate := 2 * float64(count*c.Rows*DirectWidth*run*Lanes) * float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate/1e9, "GFLOP/s")
		})
	}
}
