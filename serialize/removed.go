package serialize

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Removed lists what Strip removed.
type Removed struct {
	Replicas    int            // replicas of the wrapped graph
	Connections map[string]int // nodes by operation: split, gather, all_reduce, track, ...
	Optimizer   []string       // names of tensors
	Averages    []string       // names of tensors
	Auxiliary   []string       // names of tensors of the auxiliary head
	Sets        []string       // names of sets of tensors in addition to the state
	Last        bool           // the last state was removed: the template has the best epoch
	Averaged    bool           // the template has the average of the weights, not the weights that were trained
	Stale       bool           // the template has statistics of training instead of estimated ones
	Attachments int
	Bytes       int64 // bytes of all these tensors
}

// Nodes returns the number of removed nodes.
func (r *Removed) Nodes() int {
	n := 0
	for _, count := range r.Connections {
		n += count
	}
	return n
}

func (r *Removed) connection(o graph.Op) {
	if r.Connections == nil {
		r.Connections = map[string]int{}
	}
	r.Connections[o.String()]++
}

// training counts a state tensor if only training needs it.
func (r *Removed) training(s graph.State) {
	switch s.Role {
	case graph.Optimizer:
		r.Optimizer = append(r.Optimizer, s.Name)
	case graph.Average:
		r.Averages = append(r.Averages, s.Name)
	default:
		return
	}
	r.Bytes += int64(tensor.Count(s.Shape) * s.DType.Size())
}

func (r *Removed) set(s Set) {
	r.Sets = append(r.Sets, s.Name)
	for _, t := range s.Tensors {
		r.Bytes += int64(len(t.Bytes))
	}
}

// auxiliary returns g without its auxiliary head and counts the head's tensors. It returns g itself
// if there is no such head.
func (r *Removed) auxiliary(g *graph.Graph) (*graph.Graph, error) {
	out, err := g.WithoutAuxiliary()
	if err != nil || out == g {
		return g, err
	}
	remaining := map[string]bool{}
	for _, s := range out.State {
		remaining[s.Name] = true
	}
	for _, s := range g.State {
		if !remaining[s.Name] {
			r.Auxiliary = append(r.Auxiliary, s.Name)
			r.Bytes += int64(tensor.Count(s.Shape) * s.DType.Size())
		}
	}
	return out, nil
}
