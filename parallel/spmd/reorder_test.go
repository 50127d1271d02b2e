package spmd

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// trainOf returns the training function of a model after reordering.
func trainOf(t *testing.T, name string, mode bn.Mode) *graph.Function {
	t.Helper()
	m, err := models.Build(name, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := Wrap(m.Graph, Options{Replicas: 2, BN: mode})
	if err != nil {
		t.Fatal(err)
	}
	var trained []string
	for _, s := range m.Graph.State {
		if s.Role.Trained() {
			trained = append(trained, s.Name)
		}
	}
	f, err := TrainFunction(wrapped, Training{Trained: trained})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestArrange counts the exchanges of networks. In resnet18 three blocks have a batch norm
// in their shortcut, which shares an exchange with its neighbour: 20 batch norms need 17
// exchanges, forward and backward. The gradients leave in buckets while half of the
// backward pass is still to be done.
func TestArrange(t *testing.T) {
	for _, c := range []struct {
		model string
		mode  bn.Mode
		reads int
	}{
		{"resnet18", bn.Sync, 2 * 17}, {"resnet20", bn.Sync, 2 * 19}, {"resnet20", bn.Replica, 0},
	} {
		f := trainOf(t, c.model, c.mode)
		reads, early, closing := 0, 0, 0
		for _, e := range f.Exchanges() {
			switch {
			case e.Read:
				reads++
			case e.To < len(f.Nodes)*4/5:
				early++
				fallthrough
			default:
				closing++
			}
		}
		t.Logf("%s, batch norm %s: %d exchanges of moments, %d of gradients", c.model, c.mode, reads, closing)
		if reads != c.reads || early < 1 || closing < 3 || closing > buckets+1 {
			t.Errorf("%s, batch norm %s: %d exchanges that nodes wait for, want %d; %d others, %d of them early",
				c.model, c.mode, reads, c.reads, closing, early)
		}
	}
}

// All-reduces that later nodes read and all-reduces that nothing reads never share an exchange.
func TestArrangeKeepsLanesApart(t *testing.T) {
	f := trainOf(t, "resnet18", bn.Sync)
	for _, e := range f.Exchanges() {
		for _, n := range f.Nodes[e.From:e.To] {
			read := slices.ContainsFunc(f.Nodes, func(m graph.Node) bool { return slices.Contains(m.In, n.Out[0]) })
			if read != e.Read {
				t.Errorf("%s is read: %v, its exchange: %v", f.NodeName(&n), read, e.Read)
			}
		}
	}
}
