package graph

// Makers returns for every result of a node that node. Inputs and state are made by none:
// for them, and for None, the map has nil.
func (f *Function) Makers() map[Value]*Node {
	makers := make(map[Value]*Node, len(f.Values))
	for i := range f.Nodes {
		for _, v := range f.Nodes[i].Out {
			makers[v] = &f.Nodes[i]
		}
	}
	return makers
}
