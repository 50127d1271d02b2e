package remote_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// BenchmarkEmptyRun measures the cost of a call: the function does nothing.
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

// BenchmarkWrite measures the cost of sending a tensor of 1 MiB to the device.
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

// BenchmarkExchange measures the cost of an exchange in a group of CPU devices of one
// thread. A run is a chain of many exchanges, with only a sum of one row between two of
// them. The first sizes are those used by batch norms of 16 and 256 channels, and the chain
// continues with their results. The last size is all gradients of resnet20.
func BenchmarkExchange(b *testing.B) {
	for _, level := range groupLevels {
		plugin := start(b, "cpu", level...)
		for _, n := range []int{1, 2, 3, 4, 8} {
			for _, size := range []struct{ floats, exchanges int }{{32, 50}, {512, 50}, {270000, 5}} {
				b.Run(fmt.Sprintf("%s/%dx/%dB", level[0], n, 4*size.floats), func(b *testing.B) {
					exchange(b, plugin, n, size.floats, size.exchanges)
				})
			}
		}
	}
}

// exchange measures runs with the given number of exchanges, each of the given number of
// floats.
func exchange(b *testing.B, plugin *remote.Plugin, devices, floats, exchanges int) {
	ctx := context.Background()
	p := exchangesOf(b, floats, exchanges)
	members, done := gather(b, plugin, devices), make(chan error)
	var loaded []device.Executable
	for _, d := range members {
		loaded = append(loaded, load(b, d, p))
	}
	x := tensor.New(tensor.F32, 1, floats)
	for n := uint64(0); b.Loop(); n++ {
		for _, l := range loaded {
			go func() {
				_, err := l.Run(ctx, device.Step{Function: graph.Train, Number: n, Rows: []int{1},
					Inputs: []tensor.Tensor{x}})
				done <- err
			}()
		}
		for range loaded {
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*exchanges), "µs/exchange")
}

// exchangesOf returns a program with a function that has the given number of exchanges.
// Small exchanges depend on each other, in order; large ones do not.
func exchangesOf(t testing.TB, floats, exchanges int) *graph.Program {
	p := &graph.Program{Name: "exchanges"}
	b := graph.NewBuilder(graph.Train, &p.State)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{floats}})
	for i := range exchanges {
		sum := b.Op(graph.AllReduce, fmt.Sprint("all", i),
			[]graph.Value{b.Op(graph.ChannelSum, fmt.Sprint("sum", i), []graph.Value{x})})
		if floats < 10000 {
			x = b.Op(graph.Mul, fmt.Sprint("x", i), []graph.Value{x, sum})
		} else {
			x = b.Op(graph.Relu, fmt.Sprint("x", i), []graph.Value{x})
			b.Output(fmt.Sprint("kept", i), sum, true)
		}
	}
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	p.Functions = append(p.Functions, f)
	return p
}
