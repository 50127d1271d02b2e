package devicetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
)

// TestBench checks that the program of every benchmark is valid, and measures the programs
// that ref runs quickly.
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

// hanging is a device that hangs from a given run on: its runs end only when they are
// cancelled.
type hanging struct {
	device.Device
	from int
}

type hangingExecutable struct {
	device.Executable
	left int
}

func (h hanging) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := h.Device.Load(ctx, p, c)
	return &hangingExecutable{x, h.from}, err
}

func (x *hangingExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if x.left--; x.left >= 0 {
		return x.Executable.Run(ctx, s)
	}
	<-ctx.Done()
	return device.Outcome{}, device.Errorf("hanging", "Run", device.Canceled, "%w", ctx.Err())
}

// TestBenchOfADeviceThatHangs checks that Bench returns an error that names the call if a device hangs, in
// its first run or in a later one, alone or in an exchange.
func TestBenchOfADeviceThatHangs(t *testing.T) {
	const limit = 100 * time.Millisecond
	for _, from := range []int{0, 2} {
		open := func(context.Context, string) (device.Device, error) { return hanging{ref.New("ref"), from}, nil }
		for _, b := range Benchmarks() {
			if !strings.HasPrefix(b.Name, "call") && !strings.HasPrefix(b.Name, "exchange: moments") {
				continue
			}
			began := time.Now()
			err := Bench(WithPatience(t.Context(), limit), open, device.F32, []Benchmark{b}, time.Hour,
				func(Figure) { t.Errorf("%s was measured", b.Name) })
			if err == nil || !strings.HasPrefix(err.Error(), b.Name+": ") ||
				!strings.Contains(err.Error(), "was not answered in 100ms") {
				t.Errorf("from run %d on: %v", from, err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s: it took %v", b.Name, took)
			}
		}
	}
}

// deaf is a device that reports no operations.
type deaf struct{ device.Device }

func (deaf) Info() device.Info { return device.Info{} }
