package fleet

import (
	"testing"

	"github.com/bnctl/bnctl/device"
)

func TestCommonClass(t *testing.T) {
	of := func(plugin, class string) target { return target{plugin: plugin, info: device.Info{Kernels: class}} }
	for _, c := range []struct {
		asked, precision string
		targets          []target
		want             string
	}{
		{"auto", device.F32, []target{of("cpu", "amx"), of("opencl", "fma")}, "fma"},
		{"", device.F32, []target{of("cuda", "fma"), of("cpu", "amx")}, "fma"},
		{"auto", device.F32, []target{of("cpu", "amx"), of("cpu", "amx")}, "fma"},
		{"auto", device.BF16, []target{of("cpu", "amx"), of("cpu", "amx")}, "amx"},
		{"auto", device.BF16, []target{of("cpu", "amx"), of("cpu", "fma")}, "fma"},
		{"amx", device.F32, []target{of("cpu", "amx")}, "amx"},
		{"auto", device.F32, []target{of("cpu", "generic")}, "generic"},
		{"auto", device.F32, []target{of("opencl", "fma")}, "fma"},
		{"generic", device.F32, []target{of("cpu", "fma")}, "generic"},
		{"auto", device.F32, []target{of("cpu", "generic"), of("opencl", "fma")}, "auto"}, // without a common class
		{"auto", device.F32, []target{of("cpu", "fma"), of("ref", "ref")}, "auto"},
	} {
		if got := commonClass(c.asked, c.precision, c.targets); got != c.want {
			t.Errorf("asked for %q at %s of %v: %q, want %q", c.asked, c.precision, c.targets, got, c.want)
		}
	}
}

// TestLesserClass checks which class ranks with different classes use.
func TestLesserClass(t *testing.T) {
	for _, c := range []struct {
		a, b, want string
		ok         bool
	}{{"amx", "fma", "fma", true}, {"fma", "amx", "fma", true}, {"generic", "amx", "generic", true},
		{"fma+ref", "fma+ref", "fma+ref", true}, {"fma", "ref", "", false}} {
		if got, ok := lesserClass(c.a, c.b); got != c.want || ok != c.ok {
			t.Errorf("of %s and %s: %q, %v, want %q", c.a, c.b, got, ok, c.want)
		}
	}
}
