//go:build unix

package inprocess

import (
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// The processor time of a call for one row, and of the device in it: the difference is the cost of
// a call. Both are measured in turn.
func BenchmarkCall(b *testing.B) {
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		b.Fatal(err)
	}
	p, err := New(m, Options{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	in := p.Inputs()[0].Type
	x := tensor.New(in.DType, append([]int{1}, in.Shape...)...)
	call := func() error {
		_, err := p.Run(b.Context(), x)
		return err
	}
	direct := func() error {
		p.session.number++
		_, err := p.session.exe.Run(b.Context(), device.Step{Function: graph.Predict, Number: p.session.number,
			Rows: []int{1}, Inputs: []tensor.Tensor{x}})
		return err
	}
	var calls, device time.Duration
	for b.Loop() {
		calls += processor(b, call)
		device += processor(b, direct)
	}
	n := 1000 * float64(b.N*repeats)
	b.ReportMetric(float64(calls)/n, "µs/call")
	b.ReportMetric(float64(device)/n, "µs/device")
}

// repeats is the number of calls that are measured together.
const repeats = 100

// processor returns the processor time of repeats calls of f.
func processor(b *testing.B, f func() error) time.Duration {
	now := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := now()
	for range repeats {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	return now() - began
}
