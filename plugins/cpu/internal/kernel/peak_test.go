package kernel

import (
	"sync"
	"testing"
	"time"
)

func TestPeak(t *testing.T) {
	for _, set := range Sets() {
		lanes := max(set.lanes, 1)
		for _, n := range []int{0, 1, 7} {
			if got, want := set.Peak(n), 2*12*lanes*n; got != want {
				t.Errorf("%s: %d rounds: got %d operations, want %d", set.Name, n, got, want)
			}
		}
	}
}

// BenchmarkPeak measures the peak rate. Other benchmarks report their rates as a fraction of it.
func BenchmarkPeak(b *testing.B) {
	for _, set := range Sets() {
		b.Run(set.Name, func(b *testing.B) {
			const n = 10000
			operations := 0
			for b.Loop() {
				operations += set.Peak(n)
			}
			b.ReportMetric(float64(operations)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

// reportRate reports the operations per second of a benchmark, and their share of Peak in percent. An
// iteration of the benchmark does the given number of operations.
func reportRate(b *testing.B, s *Set, operations float64) {
	rate := operations * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate/1e9, "GFLOP/s")
	b.ReportMetric(100*rate/peakOf(s), "%peak")
}

var peaks sync.Map // operations per second that peakOf measured, by set of kernels

// peakOf returns the highest rate that several calls of Peak reach.
func peakOf(s *Set) float64 {
	if p, ok := peaks.Load(s); ok {
		return p.(float64)
	}
	const tries, rounds = 50, 20000
	best := 0.0
	for range tries {
		began := time.Now()
		operations := s.Peak(rounds)
		best = max(best, float64(operations)/time.Since(began).Seconds())
	}
	peaks.Store(s, best)
	return best
}

// BenchmarkElements measures elementwise functions. Operands and results are in the nearest cache.
func BenchmarkElements(b *testing.B) {
	const n = 2048
	x, dy, y := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], dy[i] = float32(i%17-8), float32(i%5-2)
	}
	for _, s := range Sets() {
		for _, k := range []struct {
			name       string
			operations float64 // operations of an element
			bytes      int64
			run        func()
		}{
			{"relu", 1, 8, func() { s.Relu(y, x) }},
			{"relugradient", 1, 12, func() { s.ReluGradient(y, x, dy) }},
			{"relu6", 2, 8, func() { s.Relu6(y, x) }},
			{"relu6gradient", 2, 12, func() { s.Relu6Gradient(y, x, dy) }},
			{"add", 1, 12, func() { s.Add(y, x, dy) }},
		} {
			b.Run(k.name+"/"+s.Name, func(b *testing.B) {
				b.SetBytes(k.bytes * n)
				for b.Loop() {
					k.run()
				}
				reportRate(b, s, k.operations*n)
			})
		}
	}
}
