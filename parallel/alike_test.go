package parallel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/tensor"
)

// classed is a device with a given kernel class.
type classed struct {
	device.Device
	class string
}

func (d classed) Info() device.Info {
	i := d.Device.Info()
	i.Kernels = d.class
	return i
}

// Foreign devices that compute correctly are never lost, with any training method. Their states are
// not compared if they may differ.
func TestNobodyIsLostWhoIsRight(t *testing.T) {
	const steps = 20
	m := small(t)
	for _, how := range []struct {
		name    string
		options spmd.Options
		config  Config
	}{
		{"batch norm over the batch", spmd.Options{BN: bn.Sync}, Config{}},
		{"batch norm of replicas", spmd.Options{BN: bn.Replica}, Config{}},
		{"updates of one device", spmd.Options{BN: bn.Sync}, Config{Template: true}},
		{"weights of their own", spmd.Options{BN: bn.Replica}, Config{Local: true}},
	} {
		var want map[string]tensor.Tensor
		for _, foreign := range [][]bool{{false}, {false, true}, {true, true}, {true, false, true}} {
			members := refs(t, len(foreign))
			for i, is := range foreign {
				members[i].Foreign = is
				members[i].Device = classed{members[i].Device, fmt.Sprint("class", i)}
			}
			how.options.Replicas = 5
			how.config.Lost = func(e LostDevice) { t.Errorf("%s, %v: %s is lost: %v", how.name, foreign, e.Device, e.Reason) }
			d, err := Open(t.Context(), program(t, m, how.options), m.State, members, withSizes(how.config))
			if err != nil {
				t.Fatal(err)
			}
			got, err := advancedBy(t, d, m.State, how.config.Local, steps)
			if err != nil {
				t.Errorf("%s, %v: %v", how.name, foreign, err)
			}
			if want == nil {
				want = got
			}
			if !sameState(got, want) {
				t.Errorf("%s, %v: another state than on one device", how.name, foreign)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// advancedBy trains for a number of steps and returns the state.
func advancedBy(t *testing.T, d *Driver, start map[string]tensor.Tensor, local bool, steps int) (
	map[string]tensor.Tensor, error) {
	t.Helper()
	var l *weightsync.LocalSGD
	if local {
		l = weightsync.NewLocalSGD(d.OneByOne(), start)
	}
	for i := range steps {
		b := batchOf(20-i%7, 5, Keep, 20)
		if b.Inverses = slices.Repeat([]float32{0.25}, 5); local {
			if _, err := l.Step(t.Context(), b, device.Hyper{"lr": 0.05}); err != nil {
				return nil, err
			}
			l.Commit()
			continue
		}
		if _, err := d.Step(t.Context(), b); err != nil {
			return nil, err
		}
		if err := d.Commit(t.Context(), device.Hyper{"lr": 0.05}); err != nil {
			return nil, err
		}
	}
	if local {
		return l.State(), nil
	}
	return d.State(t.Context())
}
