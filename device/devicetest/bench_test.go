package devicetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
)

// Every program of a benchmark is right; those that ref can run in little time
// are measured.
func TestBench(t *testing.T) {
	list := Benchmarks()
	for _, b := range list {
		s, err := b.setting()
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		if err := s.program.Check(); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
		for _, o := range opsOf(s.program) {
			if b.Ops != nil && !slices.Contains(b.Ops, o) {
				t.Errorf("%s: %v is not in its list of operations", b.Name, o)
			}
		}
	}
	open := func(context.Context, string) (device.Device, error) { return ref.New("ref"), nil }
	cheap := slices.DeleteFunc(list, func(b Benchmark) bool {
		return !strings.HasPrefix(b.Name, "call") && !strings.HasPrefix(b.Name, "exchange: moments")
	})
	var figures []Figure
	err := Bench(t.Context(), open, device.F32, cheap, 0, func(f Figure) { figures = append(figures, f) })
	if err != nil {
		t.Fatal(err)
	}
	if len(figures) != 2 {
		t.Fatalf("%d figures, want those of a call and of an exchange", len(figures))
	}
	for _, f := range figures {
		if f.Runs != 1 || f.Median < f.Best || f.Worst < f.Median || f.Best <= 0 {
			t.Errorf("%s: got %+v", f.Name, f)
		}
	}
}

func TestBenchLacks(t *testing.T) {
	open := func(context.Context, string) (device.Device, error) { return deaf{ref.New("ref")}, nil }
	err := Bench(t.Context(), open, device.F32, Benchmarks()[1:2], 0, func(f Figure) {
		if len(f.Lacks) != 2 || f.Runs != 0 {
			t.Errorf("a device without operations: got %+v", f)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// deaf says that it has no operations.
type deaf struct{ device.Device }

func (deaf) Info() device.Info { return device.Info{} }
