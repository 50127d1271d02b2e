package graph

import "slices"

// Exchange is what one meeting of the devices of a group reduces: all-reduces
// that follow each other, the nodes [From, To) of a function.
type Exchange struct {
	From, To int
	// Read: some node reads one of the results. The others are there for the
	// end of the function, which alone waits for them.
	Read bool
}

// Exchanges lists the exchanges of f in their order.
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
