package cuda

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
)

// A barrier is a bar.sync instruction of a kernel.
type barrier struct {
	kernel string
	text   string // a module with this kernel alone
	line   int    // line of text, from 0
}

// barriers returns the barriers of a module.
func barriers(text string) (list []barrier) {
	lines := strings.Split(text, "\n")
	for begins, s := range lines {
		m := entry.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		text := alone(lines, begins)
		for i, s := range strings.Split(text, "\n") {
			if strings.HasPrefix(s, "\tbar.sync") {
				list = append(list, barrier{m[1], text, i})
			}
		}
	}
	return list
}

// with returns the module with the given line in place of the barrier's line.
func (b barrier) with(line string) string {
	lines := strings.Split(b.text, "\n")
	lines[b.line] = line
	return strings.Join(lines, "\n")
}

// field runs cases on the PTX machine with one modified kernel.
type field struct {
	machine
	trials map[string][]trial // trials by their kernels, those with the fewest threads first
}

// A trial runs a case on a driver.
type trial struct {
	name    string
	run     func(gpu.Driver) error
	threads int
}

func newField(t *testing.T, capability string, list []trial) *field {
	t.Helper()
	m, err := machineOf(capability)
	if err != nil {
		t.Fatal(err)
	}
	f := &field{m, map[string][]trial{}}
	for _, try := range list {
		n := noted{map[string]int{}, new(gpu.Buffer), m.Has}
		_ = try.run(n) // an error does not matter, because nothing is computed
		for _, count := range n.threads {
			try.threads += count
		}
		for kernel := range n.threads {
			f.trials[kernel] = append(f.trials[kernel], try)
		}
	}
	for _, list := range f.trials {
		slices.SortStableFunc(list, func(a, b trial) int { return cmp.Compare(a.threads, b.threads) })
	}
	return f
}

// trials returns the cases of package bitwise, and the cases of package devicetest for operations that
// bitwise lacks.
func trials(t *testing.T) (list []trial) {
	t.Helper()
	cases, err := bitwise.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		list = append(list, trial{name: c.Name, run: func(d gpu.Driver) error { return run(t.Context(), c, d) }})
	}
	others := regexp.MustCompile("^(matmul|conv_int8|dense_int8|class: .*matmul)")
	for _, c := range devicetest.Cases() {
		if others.MatchString(c.Name) {
			list = append(list, trial{name: c.Name, run: func(d gpu.Driver) error {
				open := func(context.Context, string) (device.Device, error) { return gpu.New(anyGPU, d), nil }
				return c.Judge(patient(t), open, device.F32).Err
			}})
		}
	}
	return list
}

// run runs a case once, with three rows.
func run(ctx context.Context, c bitwise.Case, d gpu.Driver) error {
	x := gpu.New(anyGPU, d)
	defer x.Close()
	once, end, err := bitwise.Repeated(ctx, x, c.Program, 3)
	if err != nil {
		return err
	}
	return errors.Join(once(), end())
}

// fault returns the first case that fails with the kernel of text, and its error.
func (f *field) fault(t *testing.T, kernel, text string) (by string, _ error) {
	t.Helper()
	other, err := f.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, try := range f.trials[kernel] {
		if err := try.run(f.instead(kernel, other)); err != nil {
			return try.name, err
		}
	}
	return "", nil
}

// TestBarriers checks that the PTX machine reports a race if a barrier of a kernel is removed. With
// BNCTL_PTX=mutants it removes all barriers, one by one. With BNCTL_PTX=few or full it removes one of each
// kernel.
func TestBarriers(t *testing.T) {
	all, list := plantsAll(t), trials(t)
	count, kernels := map[string]int{}, map[string]int{}
	for _, of := range []struct{ capability, text string }{
		{"6.0", gpu.PTX}, {"6.1", gpu.DotPTX}, {"7.5", gpu.MMA75PTX}, {"8.0", gpu.MMA80PTX},
	} {
		t.Run(of.capability, func(t *testing.T) {
			f := newField(t, of.capability, list)
			for i, b := range barriers(of.text) {
				name := b.kernel + " of " + of.capability
				if kernels[name]++; kernels[name] > 1 && !all {
					continue
				}
				by, err := f.fault(t, b.kernel, b.with(""))
				switch {
				case err != nil && strings.Contains(err.Error(), "race: "):
					count["races"]++
					t.Logf("%s, barrier %d, by %s: %v", name, kernels[name], by, err)
				case err != nil: // for example a read of memory that was never written
					count["other faults"]++
					t.Logf("%s, barrier %d, by %s: %v", name, kernels[name], by, err)
				default:
					t.Errorf("%s, barrier %d (%d of all): its absence is not found", name, kernels[name], i)
				}
			}
		})
	}
	if len(kernels) < 25 {
		t.Errorf("%d kernels with barriers, want 25 at least", len(kernels))
	}
	t.Log(count)
}
