package parallel

import (
	"github.com/bnctl/bnctl/device"
	"testing"
)

// named is a device that only has a description.
type named struct {
	device.Device
	info device.Info
}

func (d named) Info() device.Info { return d.info }

func TestKernelClass(t *testing.T) {
	of := func(kernels string, features ...string) Member {
		return Member{Device: named{info: device.Info{Kernels: kernels, Features: features}}}
	}
	const same = device.Deterministic
	for _, c := range []struct {
		group         []Member
		class         string
		deterministic bool
	}{
		{[]Member{of("fma", same)}, "fma", true},
		{[]Member{of("fma", same), of("fma", same)}, "fma", true},
		{[]Member{of("fma", same), of("fma")}, "fma", false},
		{[]Member{of("ref", same), of("fma", same), of("ref", same)}, "fma+ref", false},
	} {
		if class, d := KernelClass(c.group); class != c.class || d != c.deterministic {
			t.Errorf("got %s, %v; want %s, %v", class, d, c.class, c.deterministic)
		}
	}
}
