package machines

import (
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// The planned bytes of a step equal the bytes that the connections count.
func TestTrafficIsThatOfTheConnections(t *testing.T) {
	keys := newKeys(t)
	a, b := start(t, "127.0.0.1:0", keys, "2xref"), start(t, "127.0.0.1:0", keys, "ref")
	for _, c := range []struct {
		devices, bn string
		replicas    int
	}{
		{"tls://" + a.address + "/ref:0,ref", "sync", 2},
		{"tls://" + a.address + "/*", "sync", 5},
		{"tls://" + a.address + "/*,tls://" + b.address + "/*", "sync", 7},
		{"tls://" + a.address + "/*,ref", "replica", 4},
	} {
		plan, sent, received := counted(t, host(keys, c.devices), c.bn, c.replicas)
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

// counted trains a small network, and returns its plan and the bytes of a step by machine.
func counted(t *testing.T, o fleet.Options, bn string, replicas int) (
	plan train.Machines, sent, received []float64) {
	t.Helper()
	ctx := t.Context()
	src, err := data.Open(ctx, "glyphs:128", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r := recipe.Default("mlp-bn")
	r.Epochs, r.Batch, r.Replicas = 1, 16, replicas
	if bn == "replica" {
		r.BN = "replica"
	}
	started, err := modelfile.Start("mlp-bn", src.Info(), modelfile.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.SetModel(started.Model)
	if err := r.SetData(ctx, src, nil); err != nil {
		t.Fatal(err)
	}
	f, err := fleet.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := train.Config{Train: src, Fleet: f}
	c.Events = func(e train.Event) {
		switch e := e.(type) {
		case train.Machines:
			plan = e
		case train.Stepped:
			if e.Step != 7 { // after steps 1, 2, 4 and 8 the states of the devices are compared
				return
			}
			for _, m := range e.Machines {
				sent, received = append(sent, float64(m.Sent)), append(received, float64(m.Received))
				if sum := m.Compute + m.Waiting + m.Sending; m.Sending <= 0 || m.Waiting < 0 || sum > 1.01 {
					t.Errorf("the time of a machine is %+v", m)
				}
			}
		}
	}
	s, err := train.New(ctx, r, started.Model, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return plan, sent, received
}
