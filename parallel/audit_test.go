package parallel

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
)

// liar is a device that flips the last bit of one gradient in a run.
type liar struct {
	device.Device
	machine string
	run     uint64
	judges  bool // the device lies only when it repeats the run of another device
}

func (d *liar) Link() device.Link { return device.Link{Machine: d.machine} }

func (d *liar) Join(ctx context.Context, g device.Group) error {
	if g.Exchange != nil && (len(g.Replicas) > 1) != d.judges {
		g.Exchange = &lyingExchange{g.Exchange, d.run}
	}
	return d.Device.Join(ctx, g)
}

type lyingExchange struct {
	collective.Exchanger
	run uint64
}

func (x *lyingExchange) Start(ctx context.Context, tag collective.Tag,
	values []collective.Reduction) func() error {
	if p := values[0].Partials; tag.Step == x.run && tag.Lane == collective.Gradients && len(p) > 0 {
		p[0].Value.Bytes[0] ^= 1
	}
	return x.Exchanger.Start(ctx, tag, values)
}

// everyReplica audits all replicas of all steps.
func everyReplica(v device.Version) (int, []int) { return int(v) + 1, []int{0, 1, 2, 3, 4} }

// A device that returns one wrong bit of a gradient is found, whichever device repeats its run, and the
// result equals the result of honest devices.
func TestAuditFindsOneWrongBit(t *testing.T) {
	want, err := steps(opened(t, refs(t, 1), Config{}), 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		devices int
		liar    int
		own     int // index of the host's own device; -1: none
		want    string
	}{
		{"the host's device decides", 2, 1, 0, "machine far:1 gives other bits for replica 3 of step 2 than ref0"},
		{"the host's device is second", 2, 0, 1, "machine far:1 gives other bits for replica 0 of step 2 than ref1"},
		{"a third device decides", 3, 1, -1, "machine far:1 gives other bits for replica 2 of step 2 than ref0"},
		{"the judge lies", 3, 1, -1, "machine far:1 gives other bits for replica 0 of step 2 than ref2"},
		{"nobody decides", 2, 1, -1, "ref1 and ref0 give different bits for replica 3 of step 2"},
		{"all are honest", 3, -1, 0, ""},
	} {
		members, text := refs(t, c.devices), ""
		for i := range members {
			members[i].Foreign = i != c.own
			if i == c.liar {
				members[i].Device = &liar{members[i].Device, "far:1", 2, c.what == "the judge lies"}
			}
		}
		d := opened(t, members, Config{Audit: everyReplica,
			Lost: func(l LostDevice) { text += l.Reason.Error() }})
		got, err := steps(d, 4)
		if err != nil {
			text += err.Error()
		}
		if c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.what, text, c.want)
		}
		if c.what != "nobody decides" && got != want {
			t.Errorf("%s: loss %v, want %v", c.what, got, want)
		}
		if left := len(d.group.members); c.liar >= 0 && err == nil && left != c.devices-1 {
			t.Errorf("%s: %d devices are left", c.what, left)
		}
	}
}
