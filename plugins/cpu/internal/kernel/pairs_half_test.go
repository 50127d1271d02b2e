package kernel

import (
	"math/rand/v2"
	"testing"
)

// untouched is the value of results before a call, so that the test finds those that were not written.
const untouched = 0xabcd

// checkHalves compares results of two bytes with results of four bytes, rounded, in the first width
// channels of every position. It also checks that nothing else was written.
func checkHalves(t *testing.T, set string, got []uint16, want []float32, width, step int) {
	t.Helper()
	for i, v := range got {
		if i%step >= width {
			if v != untouched {
				t.Fatalf("%s: element %d is no result, and was written", set, i)
			}
			continue
		}
		if w := bf16(want[i]); v != w && !(want[i] != want[i] && v&0x7fff > 0x7f80) {
			t.Fatalf("%s: element %d: got %#x, want %#x", set, i, v, w)
		}
	}
}

func fillUntouched(n int) []uint16 {
	x := make([]uint16, n)
	for i := range x {
		x[i] = untouched
	}
	return x
}

// TestPairsHalf checks that results of two bytes equal results of four bytes that are then rounded.
func TestPairsHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	for n := range 70 {
		values, gap := normal, n%3
		if n%3 == 0 {
			values = awkward
		}
		w := randomWindow(r, 1+n%29, 2, 6, n+1, gap, 200)
		c := newPairsCase(r, w, 200, gap, values)
		c.Round = true
		want := c.run(definition)
		for _, set := range append(pairsSets(), definition) {
			got := fillUntouched(len(want))
			cut := c.Positions() / 3
			for panel := range c.Panels() {
				set.PairsHalf(c.Pairs, panel, got, c.in, c.packed, c.ScaledEpilogue, 0, cut, new(Workspace))
				set.PairsHalf(c.Pairs, panel, got, c.in, c.packed, c.ScaledEpilogue, cut, c.Positions(), new(Workspace))
			}
			checkHalves(t, set.Name, got, want, w.Width, w.Width+gap)
		}
	}
}

// TestDirectPairsHalf checks the same for direct convolutions: results of two bytes equal rounded results
// of four.
func TestDirectPairsHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 16))
	for count := 1; count < 40; count++ {
		values := normal
		if count%3 == 0 {
			values = awkward
		}
		c := newDirectPairsCase(r, Direct{Rows: 3, Run: 8, RowStep: 8 * (count + 5), GradStep: Lanes + 3*(count%2)},
			count, values)
		c.Round = true
		want := c.run(definition, count, 0)
		for _, set := range append(pairsSets(), definition) {
			got := fillUntouched(len(want))
			set.DirectPairsHalf(c.Direct, got, c.in, c.packed, c.ScaledEpilogue, count)
			checkHalves(t, set.Name, got, want, Lanes, c.GradStep)
		}
	}
}
