package train

import (
	"context"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// paced is a device with a fixed run time per row.
type paced struct {
	device.Device
	perRow time.Duration
}

func (d *paced) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := d.Device.Load(ctx, p, c)
	return &pacedExe{exe, d}, err
}

type pacedExe struct {
	device.Executable
	d *paced
}

func (e *pacedExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	out, err := e.Executable.Run(ctx, s)
	for _, n := range s.Rows {
		out.Took += time.Duration(n) * e.d.perRow
	}
	return out, err
}

// Devices of two kernel classes give one template, whichever is faster, unless the replicas follow the
// measured speeds. Then the speeds determine the template.
func TestMixedClassesDoNotFollowTheClock(t *testing.T) {
	b := newBench(t, 64)
	run := func(bySpeed bool, cpuTime, refTime time.Duration) string {
		c := b.config(2)
		d, err := cpu.Provider{}.Open(context.Background(), device.DefaultID, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		c.BySpeed = bySpeed
		c.Devices[0] = parallel.Member{Name: "cpu", Device: &paced{d, cpuTime}}
		c.Devices[1].Device = &paced{c.Devices[1].Device, refTime}
		return b.template(New(context.Background(), &b.recipe, b.model(), c))
	}
	const slow, fast = time.Second, time.Millisecond
	want := run(false, fast, slow)
	if got := run(false, slow, fast); got != want {
		t.Errorf("template %s where ref is faster, %s where cpu is", got, want)
	}
	if got := run(true, fast, slow); got == want {
		t.Error("replicas that follow the speed give the same template: the test sees nothing")
	}
}
