package cuda

import (
	"cmp"
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/cuda/internal/ptx"
	"github.com/bnctl/bnctl/plugins/gpu"
)

// noted is a driver without hardware. It records how many threads each kernel would have had.
type noted struct {
	threads map[string]int
	buffers *gpu.Buffer
	has     func(kernel string) bool
}

// withoutUnits reports false. It is Has of a device without matrix units.
func withoutUnits(string) bool { return false }

func (n noted) Has(kernel string) bool { return n.has(kernel) }

func (n noted) Alloc(bytes int) (gpu.Buffer, error) {
	*n.buffers++
	return *n.buffers, nil
}

func (noted) Free(gpu.Buffer) error { return nil }

func (noted) Write(gpu.Buffer, int, []byte) error { return nil }

func (noted) Read(...gpu.Transfer) func() error { return func() error { return nil } }

func (noted) Record([]gpu.Launch, int) (gpu.Recording, error) { return 0, nil }

func (noted) Replay(gpu.Recording) error { return nil }

func (noted) Forget(gpu.Recording) error { return nil }

func (noted) Copy(gpu.Buffer, gpu.Buffer, int) error { return nil }

func (n noted) Launch(kernel string, groups [2]int, _ []any) error {
	n.threads[kernel] += groups[0] * groups[1] * gpu.Threads
	return nil
}

func (noted) Wait() error { return nil }

func (noted) Mark() (gpu.Mark, error) { return 0, nil }

func (noted) Times(marks []gpu.Mark) ([]time.Duration, error) {
	return make([]time.Duration, len(marks)-1), nil
}

func (noted) Close() error { return nil }

var anyGPU = device.Info{ID: "0", Name: "cuda:0", MemoryTotal: 1 << 30}

// use is a conformance case with the kernels that it launches.
type use struct {
	devicetest.Case
	threads map[string]int
}

// uses lists, for each kernel, the cases that launch it on a device with the kernels that has reports. Cases
// with the fewest threads come first. The launches depend only on shapes, so nothing has to be computed.
func uses(ctx context.Context, cases []devicetest.Case, has func(string) bool) map[string][]devicetest.Case {
	var all []use
	ctx = devicetest.WithZeros(ctx)
	for _, c := range cases {
		n := noted{map[string]int{}, new(gpu.Buffer), has}
		open := func(context.Context, string) (device.Device, error) { return gpu.New(anyGPU, n), nil }
		c.Judge(ctx, open, device.F32)
		all = append(all, use{c, n.threads})
	}
	total := func(u use) (sum int) {
		for n := range maps.Values(u.threads) {
			sum += n
		}
		return sum
	}
	slices.SortFunc(all, func(a, b use) int { return cmp.Compare(total(a), total(b)) })
	by := map[string][]devicetest.Case{}
	for _, u := range all {
		for kernel := range u.threads {
			by[kernel] = append(by[kernel], u.Case)
		}
	}
	for _, kernel := range guards {
		slices.SortStableFunc(by[kernel], func(a, b devicetest.Case) int { return cmp.Compare(edge(b), edge(a)) })
	}
	return by
}

// edge returns 1 for cases with values at the bounds that guards compare with, and 0 for others.
func edge(c devicetest.Case) int { return strings.Count(c.Name, "the edge") }

// judge has the cases that find mutants (kernels with a fault), and counts mutants. The cases in sound have
// passed without a mutant.
type judge struct {
	machine                  machine
	by                       map[string][]devicetest.Case
	sound                    map[string]bool
	found, coarse, unreached int
}

// patient returns a context with a time limit so long that no call on the PTX machine, an interpreter,
// reaches it. A call that is only slow must not count as a difference.
func patient(t *testing.T) context.Context {
	return devicetest.WithPatience(t.Context(), 20*time.Minute)
}

// newJudge returns a judge with cases, on the machine of a compute capability.
func newJudge(t *testing.T, capability string, cases []devicetest.Case) *judge {
	t.Helper()
	m, err := machineOf(capability)
	if err != nil {
		t.Fatal(err)
	}
	return &judge{machine: m, by: uses(t.Context(), cases, m.Has), sound: map[string]bool{}}
}

// fails reports whether a case fails on the PTX machine. If text is not empty, it replaces the kernel.
func (j *judge) fails(t *testing.T, c devicetest.Case, kernel, text string) bool {
	t.Helper()
	m := j.machine
	if text != "" {
		other, err := m.Load(text)
		if err != nil {
			t.Fatal(err)
		}
		m = m.instead(kernel, other)
	}
	open := func(context.Context, string) (device.Device, error) { return gpu.New(anyGPU, m), nil }
	return c.Judge(patient(t), open, device.F32).Err != nil
}

// instead returns the machine with a kernel of another module.
func (m machine) instead(kernel string, of *ptx.Module) machine {
	one := &ptx.Module{Entries: map[string]*ptx.Entry{kernel: of.Entries[kernel]}}
	return machine{m.Machine, append([]*ptx.Module{one}, m.modules...), nil}
}

// finds reports whether a case fails on a device with a mutated kernel. The next call tries this case
// first.
func (j *judge) finds(t *testing.T, mutated mutant) bool {
	t.Helper()
	some := j.by[mutated.kernel]
	i := slices.IndexFunc(some, func(c devicetest.Case) bool {
		return j.fails(t, c, mutated.kernel, mutated.text)
	})
	if i >= 0 {
		t.Logf("line %d, %s: %s", mutated.line, mutated.what, some[i].Name)
		if !j.sound[some[i].Name] && j.fails(t, some[i], "", "") {
			t.Fatalf("%s fails without a mutant", some[i].Name)
		}
		j.sound[some[i].Name] = true
		j.by[mutated.kernel] = slices.Insert(slices.Delete(slices.Clone(some), i, i+1), 0, some[i])
	}
	return i >= 0
}

// try counts one mutant.
func (j *judge) try(t *testing.T, m mutant) {
	more, is := m.coarser()
	switch {
	case j.finds(t, m):
		j.found++
	case is && j.finds(t, more):
		j.coarse++
	case !j.finds(t, m.trapped()):
		j.unreached++
		t.Logf("line %d: no case comes there", m.line)
	default:
		t.Errorf("line %d: %s that differs is not found", m.line, m.what)
	}
}

// plantsAll reports whether to plant all mutants. Unless BNCTL_PTX requests a test of the tests, it skips
// the test.
func plantsAll(t *testing.T) bool {
	switch os.Getenv("BNCTL_PTX") {
	case "mutants":
		return true
	case "few", "full":
	default:
		t.Skip("a proof about other tests, in make check-proofs")
	}
	return false
}

// TestMutants checks that the conformance cases find an error of one ulp in anything that a kernel stores.
// They must also find errors in the sums that decide which Winograd tiles are precise enough (guards).
// In products of matrices they must find another byte. BNCTL_PTX=mutants plants all errors, and BNCTL_PTX=few
// or full plants a few.
func TestMutants(t *testing.T) {
	all := plantsAll(t)
	var cases []devicetest.Case
	slow := map[string]bool{}
	for _, c := range devicetest.GroupCases() {
		slow[c.Name] = c.Name != "all_reduce: a device that is alone"
	}
	for _, c := range devicetest.Cases() {
		if !slow[c.Name] {
			cases = append(cases, c)
		}
	}
	var ofBytes []devicetest.Case
	for _, c := range cases {
		if productsOfBytes.MatchString(c.Name) {
			ofBytes = append(ofBytes, c)
		}
	}
	for _, of := range []struct {
		capability, text string
		cases            []devicetest.Case
	}{{"6.0", gpu.PTX, cases}, {"7.5", gpu.MMA75PTX, ofBytes}, {"8.0", gpu.MMA80PTX, ofBytes}} {
		t.Run(of.capability, func(t *testing.T) { plantIn(t, of.capability, of.text, of.cases, all) })
	}
}

// plantIn plants the mutants of a module, on the machine of a compute capability.
func plantIn(t *testing.T, capability, text string, cases []devicetest.Case, all bool) {
	j, of := newJudge(t, capability, cases), map[string][]mutant{}
	for i, m := range mutants(text) {
		if all || i%53 == 0 || len(of[m.kernel]) == 0 && text != gpu.PTX {
			of[m.kernel] = append(of[m.kernel], m)
		}
	}
	for _, kernel := range slices.Sorted(maps.Keys(of)) {
		t.Run(kernel, func(t *testing.T) {
			for _, m := range of[kernel] {
				j.try(t, m)
			}
		})
	}
	t.Logf("%d found, and %d float64 that only differ as float32; no case comes to %d", j.found, j.coarse,
		j.unreached)
}

// productsOfBytes matches the cases of products of bytes.
var productsOfBytes = regexp.MustCompile("^(conv_int8|dense_int8)")
