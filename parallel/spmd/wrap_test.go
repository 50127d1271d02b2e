package spmd_test

import (
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// TestStripUndoesWrap checks Strip(Wrap(m)) == m for every model of the zoo in every mode:
// the graph to the letter, the state to the bit.
func TestStripUndoesWrap(t *testing.T) {
	for _, a := range models.Architectures() {
		t.Run(a.Name, func(t *testing.T) {
			m, err := models.Build(a.Name, models.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range m.Graph.State { // zeros suffice: Strip moves tensors without reading them
				m.State[s.Name] = tensor.New(s.DType, s.Shape...)
			}
			for _, o := range []spmd.Options{
				{Replicas: 8, BN: bn.Sync}, {Replicas: 1, BN: bn.Sync}, {Replicas: 3, BN: bn.Frozen},
				{Replicas: 4, BN: bn.Replica}, {Replicas: 4, BN: bn.Replica, Stats: bn.Mean},
				{Replicas: 4, BN: bn.Replica, Stats: bn.First, MinRunning: true},
			} {
				checkStrip(t, m, o)
			}
		})
	}
}

func checkStrip(t *testing.T, m *models.Model, o spmd.Options) {
	t.Helper()
	wrapped, err := spmd.Wrap(m.Graph, o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	if string(wrapped.Text()) == string(m.Graph.Text()) {
		t.Errorf("%+v: wrapping changed nothing", o)
	}
	got, removed, err := serialize.Strip(&serialize.Checkpoint{Architecture: m.Architecture, Graph: wrapped,
		Preprocess: m.Preprocess, State: m.State})
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	if string(got.Graph.Text()) != string(m.Graph.Text()) {
		t.Errorf("%+v: the stripped graph is not the template's", o)
	}
	if len(got.State) != len(m.State) || got.Preprocess != m.Preprocess {
		t.Errorf("%+v: %d tensors, want %d", o, len(got.State), len(m.State))
	}
	for name, want := range m.State {
		if !tensor.Equal(got.State[name], want) {
			t.Errorf("%+v: %s differs", o, name)
		}
	}
	if removed.Nodes() == 0 {
		t.Errorf("%+v: nothing was reported as removed", o)
	}
}
