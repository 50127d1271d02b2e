package fleet

import (
	"testing"

	"github.com/bnctl/bnctl/device"
)

// TestDevicesAreCalledByTheirPlugin checks that a run names devices of plugins that are not built in after
// the requested plugin, whatever names the devices have. Two devices with the same name would be confused.
func TestDevicesAreCalledByTheirPlugin(t *testing.T) {
	for _, c := range []struct {
		spec spec
		list []device.Info
		want string
	}{
		{spec{name: "mine", count: 1}, []device.Info{{ID: "0", Name: "cpu"}}, "mine"},
		{spec{name: "mine", index: "0", count: 1}, []device.Info{{ID: "0", Name: "yours"}}, "mine"},
		{spec{name: "mine", index: "b", count: 1}, []device.Info{{ID: "a", Name: "x"}, {ID: "b", Name: "x"}}, "mine:1"},
		{spec{name: "opencl", count: 1}, []device.Info{{ID: "0.0", Name: "opencl:0"}}, "opencl:0"},
		{spec{name: "cpu", count: 1}, []device.Info{{ID: "0", Name: "cpu"}}, "cpu"},
	} {
		got, err := pick(c.spec, c.list)
		if err != nil || len(got) != 1 || got[0].name != c.want {
			t.Errorf("%+v: %+v, %v, want the name %s", c.spec, got, err, c.want)
		}
	}
}
