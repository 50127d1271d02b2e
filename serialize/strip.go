package serialize

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/qat"
	"github.com/bnctl/bnctl/serialize/chain"
	"github.com/bnctl/bnctl/tensor"
)

// Strip returns the template of a checkpoint and a list of the removed parts: replica connections,
// and everything that only training needs. It is the inverse of spmd.Wrap: it returns the graph
// and state that Wrap received, without an auxiliary head. If the recipe saves the best epoch, the
// template has the weights of that epoch. If the recipe averages weights, the template has the average, and
// with it the statistics of SetEstimated. A checkpoint of quantisation-aware training becomes an int8
// template (package models/qat). The template shares its tensors with c.
func Strip(c *Checkpoint) (*models.Model, Removed, error) {
	if c.TakesBest() {
		return StripBest(c)
	}
	return StripLast(c)
}

// StripLast is like Strip but with the last state of c, whatever the recipe saves.
func StripLast(c *Checkpoint) (*models.Model, Removed, error) {
	derived, stale := c.derived()
	m, removed, err := StripTrained(derived)
	removed.Averaged, removed.Stale = c.Averages(), stale
	return m, removed, err
}

// StripTrained is like Strip but with the weights and statistics that the last step of c has trained,
// whatever the recipe saves and averages.
func StripTrained(c *Checkpoint) (*models.Model, Removed, error) {
	g, removed, err := StripGraph(c.Graph)
	if err == nil {
		g, err = removed.auxiliary(g)
	}
	if err != nil {
		return nil, removed, fmt.Errorf("strip %s: %w", c.Architecture, err)
	}
	m, err := c.template(g)
	if err == nil {
		m, err = qat.Template(m)
	}
	if err != nil {
		return nil, removed, err
	}
	m.Chain, err = c.chainDigest()
	for _, s := range c.Training {
		removed.training(s)
	}
	for _, s := range c.Sets {
		removed.set(s)
	}
	if removed.Attachments = len(c.Attachments); c.Attachments[chain.Attachment] != nil {
		removed.Attachments-- // the chain is not lost: the template has its digest
	}
	return m, removed, err
}

// chainDigest returns the digest of the chain of the run; "" if it has none, or before its first epoch.
func (c *Checkpoint) chainDigest() (string, error) {
	b, ok := c.Attachments[chain.Attachment]
	if !ok {
		return "", nil
	}
	links, err := chain.Decode(b)
	if err != nil {
		return "", fmt.Errorf("strip %s: %w", c.Architecture, err)
	}
	return links.Seal(c.Recipe), nil
}

// Unwrap returns the model of a checkpoint for further training: the model of Strip with the
// auxiliary head.
func Unwrap(c *Checkpoint) (*models.Model, error) {
	g, _, err := StripGraph(c.Graph)
	if err != nil {
		return nil, fmt.Errorf("strip %s: %w", c.Architecture, err)
	}
	return c.template(g)
}

// template returns the model of g with the state of c.
func (c *Checkpoint) template(g *graph.Graph) (*models.Model, error) {
	m := &models.Model{Architecture: c.Architecture, Graph: g, State: map[string]tensor.Tensor{},
		Preprocess: c.Preprocess, Labels: c.Labels, Recipe: c.Recipe, FileTypes: c.FileTypes,
		FileTensors: c.FileTensors, Float: c.Float}
	for _, s := range g.State {
		m.State[s.Name] = c.State[s.Name]
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("strip %s: %w", c.Architecture, err)
	}
	return m, nil
}

// StripGraph returns g without replica connections: split, gather and track are
// removed, and moments, all_reduce and normalise become batch_norm again.
// Errors name a node that does not fit this pattern.
func StripGraph(g *graph.Graph) (*graph.Graph, Removed, error) {
	out := &graph.Graph{Name: g.Name}
	for _, s := range g.State {
		if s.Role != graph.Optimizer && s.Role != graph.Average {
			out.State = append(out.State, s)
		}
	}
	s := newStripper(g.Main, graph.NewBuilder(g.Main.Name, &out.State))
	if err := s.run(); err != nil {
		return nil, s.removed, err
	}
	for _, st := range g.State {
		s.removed.training(st)
	}
	var err error
	out.Main, err = s.Builder.Function()
	return out, s.removed, err
}

// stripper copies one function without its replica connections.
type stripper struct {
	graph.Copier
	makers  map[graph.Value]*graph.Node // nodes that make the values of from
	tracks  map[*graph.Node]*graph.Node // moments node to its track node
	used    map[*graph.Node]bool        // moments nodes that a normalise was made of
	removed Removed
}

func newStripper(f *graph.Function, b *graph.Builder) *stripper {
	s := &stripper{Copier: graph.NewCopier(f, b), makers: map[graph.Value]*graph.Node{},
		tracks: map[*graph.Node]*graph.Node{}, used: map[*graph.Node]bool{}}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		for _, v := range n.Out {
			s.makers[v] = n
		}
		if n.Op == graph.Track {
			s.tracks[s.origin(n.In[0])] = n
		}
	}
	return s
}

// origin follows moments back through all_reduce and select_moments to the node that made them. It
// returns nil if it finds no such node.
func (s *stripper) origin(v graph.Value) *graph.Node {
	n := s.makers[v]
	for n != nil && (n.Op == graph.AllReduce || n.Op == graph.SelectMoments) {
		n = s.makers[n.In[0]]
	}
	return n
}

func (s *stripper) run() error {
	s.Inputs()
	for i := range s.From.Nodes {
		n := &s.From.Nodes[i]
		if err := s.node(n); err != nil {
			return fmt.Errorf("node %s (%v): %w", s.From.NodeName(n), n.Op, err)
		}
	}
	for moments, track := range s.tracks {
		if !s.used[moments] {
			return fmt.Errorf("node %s (%v): its moments normalise nothing", s.From.NodeName(track), track.Op)
		}
	}
	s.Outputs()
	return s.Builder.Err()
}

func (s *stripper) node(n *graph.Node) error {
	switch n.Op {
	case graph.Split, graph.Gather:
		s.To[n.Out[0]] = s.Value(n.In[0])
		s.removed.Replicas = max(s.removed.Replicas, n.Int("replicas"))
	case graph.Moments, graph.RunningMoments, graph.SelectMoments, graph.AllReduce, graph.Track:
		// Parts of a batch_norm: see normalise.
	case graph.Normalise:
		return s.normalise(n)
	default:
		s.Copy(n)
		return nil
	}
	s.removed.connection(n.Op)
	return nil
}

// normalise turns a normalise, its moments and its track back into a batch_norm.
func (s *stripper) normalise(n *graph.Node) error {
	moments := s.origin(n.In[1])
	track := s.tracks[moments]
	if moments == nil || moments.Op != graph.Moments || moments.In[0] != n.In[0] || track == nil {
		return fmt.Errorf("its moments are not those of its operand, with a track: no batch norm can be made of it")
	}
	attrs := graph.Attrs{}.With("eps", n.Float("eps")).With("decay", track.Float("decay")).
		With("cumulative", track.Bool("cumulative")).With("variance", track.Text("variance"))
	var in []graph.Value
	for _, v := range []graph.Value{n.In[0], n.In[2], n.In[3], track.In[1], track.In[2]} {
		in = append(in, s.Value(v))
	}
	s.used[moments] = true
	for i, v := range s.Builder.Node(graph.BatchNorm, s.From.NodeName(n), attrs, in...) {
		s.To[n.Out[i]] = v
	}
	return nil
}
