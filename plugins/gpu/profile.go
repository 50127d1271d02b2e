package gpu

import (
	"time"

	"github.com/bnctl/bnctl/graph"
)

// profile holds the marks of a run: one before all steps, and one after the steps of every
// node.
type profile struct {
	marks []Mark
	of    []graph.Value // of[i] is the first result of the node between marks i-1 and i
}

// mark records a mark after a node, or the first mark if the value is graph.None.
func (p *profile) mark(d Driver, of graph.Value) error {
	m, err := d.Mark()
	if err != nil {
		return err
	}
	p.marks, p.of = append(p.marks, m), append(p.of, of)
	return nil
}

// nodes returns the times of the nodes of fn before fusion. Nodes that were fused into
// others have no time.
func (p *profile) nodes(d Driver, fn *graph.Function) ([]time.Duration, error) {
	times, err := d.Times(p.marks)
	if err != nil {
		return nil, err
	}
	of := map[graph.Value]time.Duration{}
	for i, t := range times {
		of[p.of[i+1]] += t
	}
	list := make([]time.Duration, len(fn.Nodes))
	for i, n := range fn.Nodes {
		list[i] = of[n.Out[0]]
	}
	return list, nil
}
