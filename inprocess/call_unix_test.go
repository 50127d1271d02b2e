//go:build unix

package inprocess

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// BenchmarkCall measures the processor time of a call for one row, and of the device's part of it. The
// difference is the overhead of a call. The two are measured alternately.
func BenchmarkCall(b *testing.B) {
	p, x := ready(b, 1)
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

// BenchmarkFile predicts one row per call with the template BNCTL_BENCH_MODEL, on one thread. It is the
// bnctl side of make bench-peers ROWS=in-process.
func BenchmarkFile(b *testing.B) {
	file := os.Getenv("BNCTL_BENCH_MODEL")
	if file == "" {
		b.Skip("BNCTL_BENCH_MODEL is not set; make bench-peers ROWS=in-process sets it")
	}
	template, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	p, err := Load(template, Options{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	in := p.Inputs()[0].Type
	x := tensor.New(in.DType, append([]int{1}, in.Shape...)...)
	if in.DType == tensor.U8 { // inputs of other types stay zero
		for i := range x.Bytes {
			x.Bytes[i] = byte(i * 37)
		}
	}
	call := func() {
		if _, err := p.Run(b.Context(), x); err != nil {
			b.Fatal(err)
		}
	}
	call() // a warm-up call, as for the peers
	call()
	for b.Loop() {
		call()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
}

// ready returns a predictor of mlp-bn with some threads, and a row of its input.
func ready(t testing.TB, threads int) (*Predictor, tensor.Tensor) {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(m, Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	in := p.Inputs()[0].Type
	return p, tensor.New(in.DType, append([]int{1}, in.Shape...)...)
}

// TestIdle checks that waiting predictors use no processor time. It compares the smallest time of several
// spans, because Go's runtime works in the background from time to time.
func TestIdle(t *testing.T) {
	const span, most = 300 * time.Millisecond, 3 * time.Millisecond
	for range 3 {
		p, x := ready(t, 2)
		if _, err := p.Run(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	least := time.Hour
	for range 10 {
		began := usedTime(t)
		time.Sleep(span)
		if least = min(least, usedTime(t)-began); least <= most {
			return
		}
	}
	t.Errorf("three waiting predictors use %v of the processor in %v, want at most %v", least, span, most)
}

// usedTime returns the processor time of this process.
func usedTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// processor returns the processor time of repeats calls of f.
func processor(b *testing.B, f func() error) time.Duration {
	began := usedTime(b)
	for range repeats {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	return usedTime(b) - began
}
