package cuda

import (
	"testing"

	"github.com/bnctl/bnctl/plugins/gpu"
)

// BenchmarkLaunch measures the host's part of a launch with 12 arguments, with a library that computes nothing:
// alone, and in a graph of 1,000 launches.
func BenchmarkLaunch(b *testing.B) {
	d, err := openDriver(fakeGPU, fakeCUDA(b, ""))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	l := gpu.Launch{Kernel: "conv", Groups: [2]int{7, 3}, Args: []any{int32(0)}}
	for i := range 11 {
		l.Args = append(l.Args, gpu.Buffer(i))
	}
	const launches = 1000
	measure := func(b *testing.B, launch func() error) {
		for b.Loop() {
			if err := launch(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := d.Wait(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e3/launches/float64(b.N), "us/launch")
	}
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		measure(b, func() error {
			for range launches {
				if err := d.Launch(l.Kernel, l.Groups, l.Args); err != nil {
					return err
				}
			}
			return nil
		})
	})
	b.Run("graph", func(b *testing.B) {
		list := make([]gpu.Launch, launches)
		for i := range list {
			list[i] = l
		}
		r, err := d.Record(list, 1)
		if err != nil || r == 0 {
			b.Fatal(r, err)
		}
		measure(b, func() error { return d.Replay(r) })
	})
}
