package remote_test

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/tensor"
)

// BenchmarkEmptyRun is what a call costs: a function that does nothing.
func BenchmarkEmptyRun(b *testing.B) {
	p := regression(b)
	b.Run("process", func(b *testing.B) { emptyRun(b, load(b, ref.New("near"), p)) })
	for _, level := range levels {
		b.Run(level, func(b *testing.B) { emptyRun(b, load(b, open(b, start(b, "ref", level)), p)) })
	}
}

func emptyRun(b *testing.B, x device.Executable) {
	for b.Loop() {
		if _, err := x.Run(context.Background(), device.Step{Function: "nothing"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite is what a tensor of 1 MiB costs on its way to the device.
func BenchmarkWrite(b *testing.B) {
	p := regression(b)
	p.State[0].Shape = []int{512, 512}
	p.Functions = nil
	for _, level := range levels {
		b.Run(level, func(b *testing.B) {
			x := load(b, open(b, start(b, "ref", level)), p)
			w := tensor.New(tensor.F32, 512, 512)
			b.SetBytes(int64(len(w.Bytes)))
			for b.Loop() {
				if err := x.Write(context.Background(), "w", w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStep is a step with two exchanges of a group of two devices; the
// exchanges are all that takes time.
func BenchmarkStep(b *testing.B) {
	p := regression(b)
	for _, level := range levels {
		b.Run(level, func(b *testing.B) {
			hub := collective.NewHub(2, 2)
			steps := make(chan uint64)
			done := make(chan error)
			plugin := start(b, "ref", level)
			for rank := range 2 {
				d := open(b, plugin)
				x := load(b, d, p)
				g := device.Group{Rank: rank, Replicas: [][]int{{0}, {1}}, Exchange: hub.Member(rank)}
				if err := d.Join(context.Background(), g); err != nil {
					b.Fatal(err)
				}
				go func() {
					for n := range steps {
						_, err := x.Run(context.Background(), step(n, 1))
						done <- err
					}
				}()
			}
			n := uint64(0)
			for b.Loop() {
				n++
				steps <- n
				steps <- n
				for range 2 {
					if err := <-done; err != nil {
						b.Fatal(err)
					}
				}
			}
			close(steps)
		})
	}
}
