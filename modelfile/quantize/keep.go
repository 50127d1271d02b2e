package quantize

import (
	"fmt"
	"path"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// keeps returns the nodes that stay float32 because their names match a pattern.
func keeps(f *graph.Function, patterns []string) (stays, error) {
	matched, makers := stays{}, f.Makers()
	for _, p := range patterns {
		found := false
		for i := range f.Nodes {
			name := f.NodeName(&f.Nodes[i])
			ok, err := path.Match(p, name)
			if err != nil {
				return nil, problem.Wrap("keep", fmt.Errorf("pattern %q: %w", p, err))
			}
			if ok {
				matched.add(f, makers, &f.Nodes[i], fmt.Sprintf("%q keeps it", p))
				found = true
			}
		}
		if !found {
			return nil, problem.New("keep", fmt.Sprintf("%q", p), "no node has such a name",
				"take one of those that inspect prints")
		}
	}
	return matched, nil
}

// add keeps n in float32. For a batch norm it also keeps the layer into which the norm is
// folded.
func (s stays) add(f *graph.Function, makers map[graph.Value]*graph.Node, n *graph.Node, why string) {
	s[f.NodeName(n)] = why
	if before := makers[n.In[0]]; n.Op == graph.BatchNorm && before != nil && isProduct(before.Op) {
		s[f.NodeName(before)] = why
	}
}

// coverReaders keeps in float32 the layers that read the result of a kept node, unless that node is
// a layer itself. They would round it to bytes otherwise, and keeping a concatenation would change
// nothing.
func (s stays) coverReaders(f *graph.Function) {
	users := f.Users()
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if name := f.NodeName(n); s.remains(name) && !isProduct(n.Op) {
			s.keepReaders(f, users, n.Out[0], fmt.Sprintf("it reads %s, which %s", name, s[name]))
		}
	}
}

// keepReaders keeps in float32 the layers that read v, directly or through nodes that only move or
// bound numbers.
func (s stays) keepReaders(f *graph.Function, users [][]int, v graph.Value, why string) {
	for _, i := range users[v] {
		n := &f.Nodes[i]
		bounds := slices.Contains([]graph.Op{graph.Relu, graph.Relu6, graph.Clip}, n.Op)
		switch name := f.NodeName(n); {
		case isProduct(n.Op) && n.In[0] == v && !s.remains(name):
			s[name] = why
		case onlyMoves(n.Op) || bounds:
			s.keepReaders(f, users, n.Out[0], why)
		}
	}
}
