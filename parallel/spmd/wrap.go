package spmd

import (
	"fmt"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
)

// A template does not contain replicas. Wrapping adds the connections for training to its
// graph as nodes, so that stripping only has to remove these nodes again:
//
//	template    x ---------- conv ---------------- batch_norm ------------------- y
//	wrapped     x -- split -- conv -- moments -- all_reduce -- normalise -- gather -- y
//	                                     |
//	                                   track      (the running statistics)

// Options configures the wrapping of a template.
type Options struct {
	Replicas   int
	BN         bn.Mode
	Stats      bn.Rule // with bn.Replica: the rule that merges the replicas' moments
	MinRunning bool    // a replica with fewer than two values normalises with the running statistics
}

// Wrap adds the replica connections to a template's graph: the split of every input, the
// gathering of every output, and for every batch norm the moments of the batch, their
// all-reduce (synchronised mode) and the tracking of the running statistics.
// serialize.Strip is the inverse: Strip(Wrap(m)) is m.
//
// In frozen mode batch norms are unchanged: they use running statistics.
func Wrap(g *graph.Graph, o Options) (*graph.Graph, error) {
	if o.Replicas < 1 {
		return nil, fmt.Errorf("wrap %s: %d replicas, want at least 1", g.Name, o.Replicas)
	}
	out := &graph.Graph{Name: g.Name, State: append([]graph.State(nil), g.State...)}
	w := &wrapper{Copier: graph.NewCopier(g.Main, graph.NewBuilder(g.Main.Name, &out.State)), o: o}
	for _, v := range g.Main.Inputs {
		in := g.Main.Values[v]
		x := w.Builder.Input(in.Name, in.Type)
		w.To[v] = w.Builder.Op(graph.Split, in.Name+".split", []graph.Value{x}, "replicas", o.Replicas)
	}
	for i := range g.Main.Nodes {
		w.node(&g.Main.Nodes[i])
	}
	for _, r := range g.Main.Outputs {
		name := g.Main.Values[r.Value].Name + ".gather"
		y := w.Builder.Op(graph.Gather, w.Builder.UniqueName(name), []graph.Value{w.Value(r.Value)},
			"replicas", o.Replicas)
		w.Builder.Output(r.Name, y, r.Keep)
	}
	var err error
	out.Main, err = w.Builder.Function()
	return out, err
}

type wrapper struct {
	graph.Copier
	o Options
}

func (w *wrapper) node(n *graph.Node) {
	if n.Op != graph.BatchNorm || w.o.BN == bn.Frozen {
		w.Copy(n)
		return
	}
	name := w.From.NodeName(n)
	x, gamma, beta := w.Value(n.In[0]), w.Value(n.In[1]), w.Value(n.In[2])
	mean, variance := w.Value(n.In[3]), w.Value(n.In[4])
	m := w.Builder.Op(graph.Moments, name+".moments", []graph.Value{x})
	use, over := m, "replica"
	if w.o.BN == bn.Sync {
		use, over = w.Builder.Op(graph.AllReduce, name+".merged", []graph.Value{m}, "of", "moments"), "batch"
	} else if w.o.MinRunning {
		running := w.Builder.Op(graph.RunningMoments, name+".running", []graph.Value{mean, variance})
		use = w.Builder.Op(graph.SelectMoments, name+".selected", []graph.Value{m, running}, "min", 2)
	}
	w.To[n.Out[0]] = w.Builder.Op(graph.Normalise, name, []graph.Value{x, use, gamma, beta},
		"eps", n.Float("eps"),
		"over", over)
	w.track(n, m, mean, variance)
}

// track adds the node that describes how the host keeps the running statistics.
func (w *wrapper) track(n *graph.Node, m, mean, variance graph.Value) {
	stats := w.o.Stats
	if stats == "" {
		stats = bn.Pooled
	}
	attrs := graph.Attrs{}.With("decay", n.Float("decay")).With("cumulative", n.Bool("cumulative")).
		With("variance", n.Text("variance")).With("stats", string(stats))
	w.Builder.Node(graph.Track, w.From.NodeName(n)+".track", attrs, m, mean, variance)
}
