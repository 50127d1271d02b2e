package machines

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// The bytes that a step should send, as planned, equal the bytes that are counted on the connections.
func TestTrafficIsThatOfTheConnections(t *testing.T) {
	keys := newKeys(t)
	a, b := start(t, "127.0.0.1:0", keys, "2xref"), start(t, "127.0.0.1:0", keys, "ref")
	for _, c := range []struct {
		devices  string
		mode     bn.Mode
		replicas int
	}{
		{"tls://" + a.address + "/ref:0,ref", bn.Sync, 2},
		{"tls://" + a.address + "/*", bn.Sync, 5},
		{"tls://" + a.address + "/*,tls://" + b.address + "/*", bn.Sync, 7},
		{"tls://" + a.address + "/*,ref", bn.Replica, 4},
	} {
		plan, sent, received := counted(t, host(keys, c.devices), c.mode, c.replicas)
		for i, m := range plan.Machines {
			near(t, c.devices+" "+m.Machine+" sent", sent[i], float64(m.Sent))
			near(t, c.devices+" "+m.Machine+" received", received[i], float64(m.Received))
		}
		if len(plan.Machines) == 0 || plan.Machines[0].Rate <= 0 || plan.Machines[0].RoundTrip <= 0 {
			t.Errorf("%s: the plan is %+v", c.devices, plan)
		}
	}
}

// near fails unless got is within 1 % of want.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < 0.99*want || got > 1.01*want {
		t.Errorf("%s: %.0f bytes a step, planned %.0f", what, got, want)
	}
}

// counted trains a small network. It returns the planned bytes of a step, and the counted bytes by machine.
func counted(t *testing.T, o fleet.Options, mode bn.Mode, replicas int) (
	plan train.Machines, sent, received []float64) {
	t.Helper()
	r := recipe.Default("mlp-bn")
	r.Epochs, r.Batch, r.Replicas, r.BN = 1, 16, replicas, mode
	trainOn(t, o, "glyphs:128", r, train.Config{Events: func(e train.Event) {
		switch e := e.(type) {
		case train.Machines:
			if e.Measured == nil {
				plan = e
			}
			for _, m := range e.Measured {
				if others := strings.Contains(o.Devices, ","); (m.BreakEven != nil) != others {
					t.Errorf("%s: the break-even of %s is %v", o.Devices, m.Machine, m.BreakEven)
				}
			}
		case train.Stepped:
			if e.Step != 7 { // only here, because after steps 1, 2, 4 and 8 the states of the devices are compared too
				return
			}
			for _, m := range e.Machines {
				sent, received = append(sent, float64(m.Sent)), append(received, float64(m.Received))
				if sum := m.Compute + m.Waiting + m.Sending; m.Sending <= 0 || m.Waiting < 0 || sum > 1.01 {
					t.Errorf("the time of a machine is %+v", m)
				}
			}
		}
	}})
	return plan, sent, received
}
