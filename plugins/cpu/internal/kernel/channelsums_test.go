package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// blockSums returns the sums of channels [first, last) of rows of n channels by the definition
// (BlockPositions).
func blockSums(x []float32, n, first, last int) []float64 {
	sum := make([]float64, last-first)
	for c := range sum {
		for from := 0; from < len(x); from += BlockPositions * n {
			block := float32(0)
			for at := from + first + c; at < min(from+BlockPositions*n, len(x)); at += n {
				block += x[at]
			}
			sum[c] += float64(block)
		}
	}
	return sum
}

// TestSomeSums checks that SomeSums equals the definition for any range of channels, and writes only to its
// result and its workspace.
func TestSomeSums(t *testing.T) {
	const guard = 64
	r := rand.New(rand.NewPCG(55, 1))
	for _, n := range []int{1, 7, 15, 16, 17, 31, 33, 48, 79, 80, 81, 96, 127, 176, 184, 239, 480} {
		x := guarded(r, n*(1+r.IntN(2*BlockPositions)))
		cuts := []int{0, 1, 15, 16, 17, 32, 48, 80, 81, 96, n / 3, n / 2, n - 17, n - 16, n - 1, n}
		for _, first := range cuts {
			for _, last := range cuts {
				if first < 0 || first > last || last > n {
					continue
				}
				want, size := blockSums(x, n, first, last), 3*(last-first)
				for _, s := range Sets() {
					memory := make([]float32, size+guard)
					sum := make([]float64, last-first)
					s.SomeSums(sum, x, n, first, &SumWorkspace{single: memory[: size : size+guard]})
					if !slices.Equal(sum, want) {
						t.Errorf("%s: channels %d to %d of %d, %d positions: differ from the definition", s.Name, first,
							last, n, len(x)/n)
					}
					if slices.ContainsFunc(memory[size:], func(v float32) bool { return v != 0 }) {
						t.Errorf("%s: channels %d to %d of %d: wrote past its workspace", s.Name, first, last, n)
					}
				}
			}
		}
	}
}

// TestExtentStaysInside checks that assembly processes only the requested channels. Some assembly receives
// only the length of a row. It may be chosen only if the range of channels follows from this length.
func TestExtentStaysInside(t *testing.T) {
	for _, e := range []extent{{lanes: 16}, {lanes: 64}, {lanes: 16, masked: true}, {lanes: 16, minChannels: 80},
		{lanes: 8, minChannels: 24}} {
		for n := range 200 {
			for from := range n {
				for last := from + 1; last <= n; last++ {
					switch got := e.treats(from, last, n); {
					case got < 0 || from+got > last:
						t.Fatalf("%+v: %d of channels %d to %d of %d", e, got, from, last, n)
					case got > 0 && e.masked && got != n%e.lanes,
						got > 0 && e.minChannels > 0 && (from != 0 || got != n-n%e.lanes):
						t.Fatalf("%+v: %d of channels %d to %d of %d: its only argument is %d", e, got, from, last, n, n)
					}
				}
			}
		}
	}
}
