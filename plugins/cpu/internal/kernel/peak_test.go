package kernel

import "testing"

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

// BenchmarkPeak is what the other benchmarks are a fraction of.
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
