package graph

import "slices"

// Exchange is a range of all-reduce nodes that the devices of a group compute in one exchange: the
// consecutive nodes [From, To) of a function.
type Exchange struct {
	From, To int
	// Read reports whether a node of the function reads one of the results. Otherwise only
	// the end of the function waits for the exchange.
	Read bool
}

// Reduces reports whether f exchanges anything.
func (f *Function) Reduces() bool {
	return slices.ContainsFunc(f.Nodes, func(n Node) bool { return n.Op == AllReduce })
}

// Exchanges returns the exchanges of f in the order of their nodes.
func (f *Function) Exchanges() []Exchange {
	read := map[Value]bool{}
	for i := range f.Nodes {
		for _, v := range f.Nodes[i].In {
			read[v] = true
		}
	}
	var list []Exchange
	for i := 0; i < len(f.Nodes); i++ {
		if f.Nodes[i].Op != AllReduce {
			continue
		}
		e := Exchange{From: i, To: i}
		for e.To < len(f.Nodes) && f.Nodes[e.To].Op == AllReduce {
			e.Read = e.Read || slices.ContainsFunc(f.Nodes[e.To].Out, func(v Value) bool { return read[v] })
			e.To++
		}
		list = append(list, e)
		i = e.To
	}
	return list
}
