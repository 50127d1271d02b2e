package cpu

import "testing"

func TestMeasure(t *testing.T) {
	for _, kernels := range []string{"auto", "generic"} {
		for _, threads := range []int{1, 2} {
			l, err := Measure(kernels, threads)
			if err != nil {
				t.Fatal(err)
			}
			if l.Flops < 1e6 || l.Flops > 1e15 || l.Bytes < 1e6 || l.Bytes > 1e14 {
				t.Errorf("%s, %d threads: got %+v", kernels, threads, l)
			}
		}
	}
	if _, err := Measure("steam", 1); err == nil {
		t.Error("kernels that there are not: no error")
	}
}
