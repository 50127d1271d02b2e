package cpu

import (
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// divisionLevel is one way to compute on this machine: a set of kernels and a precision.
type divisionLevel struct {
	set       *kernel.Set
	precision string
	on        map[int]device.Device // a device for each number of threads
}

var divisionThreads = []int{1, 2, 3, 5}

// divisionLevels opens devices for each set of kernels and each precision.
func divisionLevels(t *testing.T) (levels []divisionLevel) {
	t.Helper()
	for _, set := range kernel.Sets() {
		for _, precision := range []string{device.F32, device.BF16} {
			l := divisionLevel{set, precision, map[int]device.Device{}}
			for _, threads := range divisionThreads {
				d, err := Provider{}.Open(t.Context(), device.DefaultID,
					device.Options{Kernels: set.Name, Threads: threads, Precision: precision})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { d.Close() })
				l.on[threads] = d
			}
			levels = append(levels, l)
		}
	}
	return levels
}

// definitionOf returns the device that a level is compared with. bits reports whether the
// results must have the same bits; otherwise they must be close.
func definitionOf(t *testing.T, l divisionLevel) (d device.Device, bits bool) {
	t.Helper()
	o := device.Options{Precision: l.precision}
	if bits = l.set.Class == class.FMA && l.precision == device.F32; bits {
		o.Kernels = class.FMA
	}
	d, err := ref.Provider{}.Open(t.Context(), device.DefaultID, o)
	if err != nil {
		t.Fatal(err)
	}
	return d, bits
}

// setting returns the integer value of an environment variable, or otherwise if it is not set.
func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestDivision checks that every operation has the bits of package ref, for any number of threads and rows,
// any channels and any schedule, with all kernels of this machine. If ref does not define the bits, the
// results must have the bits of one thread. BNCTL_DIVISION is the number of draws of every case, and
// BNCTL_SEED the first of the seeds.
func TestDivision(t *testing.T) {
	draws, seed := setting(t, "BNCTL_DIVISION", 2), setting(t, "BNCTL_SEED", 1)
	levels, tolerance := divisionLevels(t), map[string]float64{device.F32: 1e-3, device.BF16: 0.05}
	real, most := backendOf(levels[0].on[1]).machine.Schedule, 6000
	if os.Getenv("BNCTL_DIVISION") != "" {
		most = 40000
	}
	for _, c := range casesOf(t, "testdata/division.txt") {
		t.Run(c.name, func(t *testing.T) {
			for k := range draws {
				d := drawDivision(t, c, uint64(seed+k), smallShapes(most), real)
				for _, rows := range []int{1, 2, 3, 7} {
					d.compare(t, levels, rows, tolerance, k)
				}
			}
		})
	}
}

// compare runs the draw with the given number of rows at all levels and with all numbers of threads.
func (d *divisionDraw) compare(t *testing.T, levels []divisionLevel, rows int, tolerance map[string]float64,
	k int) {
	t.Helper()
	wants := map[string][]tensor.Tensor{}
	for n, l := range levels {
		if l.set == kernel.Generic && (rows+k)%4 != 0 {
			continue // skipped because it is slow, and divided like other cases
		}
		definition, bits := definitionOf(t, l)
		key := l.precision
		if bits {
			key = class.FMA
		}
		want := wants[key]
		if want == nil {
			want = d.run(t, definition, rows)
			wants[key] = want
		}
		var first []tensor.Tensor
		for _, threads := range divisionThreads {
			if n > 0 && threads > 1 && (threads+rows+k+n)%2 != 0 {
				continue
			}
			backendOf(l.on[threads]).machine.Schedule = d.schedule
			got := d.run(t, l.on[threads], rows)
			if first == nil {
				first = got
			}
			for i := range got {
				name := d.program.Functions[0].Outputs[i].Name
				switch {
				case bits && !sameValues(got[i], want[i]):
					t.Errorf("%s, %s, %d threads, %d rows: %s has other bits than ref\n%v", l.set.Name, l.precision,
						threads, rows, name, d)
				case !sameValues(got[i], first[i]):
					t.Errorf("%s, %s, %d threads, %d rows: %s has other bits than on one thread\n%v", l.set.Name,
						l.precision, threads, rows, name, d)
				case !bits && !(finiteDifference(got[i], want[i]) <= tolerance[l.precision]):
					t.Errorf("%s, %s, %d threads, %d rows: %s differs from ref by %.2g\n%v", l.set.Name, l.precision,
						threads, rows, name, finiteDifference(got[i], want[i]), d)
				}
			}
		}
	}
}

// sameValues reports whether two tensors have the same bits. All NaNs count as equal.
func sameValues(a, b tensor.Tensor) bool {
	if tensor.Equal(a, b) {
		return true
	}
	x, y := numbers(a), numbers(b)
	return slices.EqualFunc(x, y, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	})
}

// finiteDifference returns the same as the function difference, over elements that are finite in both
// tensors.
func finiteDifference(a, b tensor.Tensor) float64 {
	x, y := numbers(a), numbers(b)
	worst, largest := 0.0, 1e-30
	for i := range x {
		if math.IsInf(x[i]-y[i], 0) || x[i] != x[i] || y[i] != y[i] {
			continue
		}
		largest, worst = max(largest, math.Abs(y[i])), max(worst, math.Abs(x[i]-y[i]))
	}
	return worst / largest
}

// Every operation that a device runs has a case in testdata/division.txt.
func TestDivisionCoversOperations(t *testing.T) {
	has := map[graph.Op]bool{}
	for _, c := range casesOf(t, "testdata/division.txt") {
		for _, n := range drawDivision(t, c, 1, smallShapes(1000), schedule.Schedule{}).program.Functions[0].Nodes {
			has[n.Op] = true
		}
	}
	for _, op := range graph.Ops() {
		if !op.Host() && !has[op] {
			t.Errorf("%v has no case in testdata/division.txt: no test divides its work over threads", op)
		}
	}
}
