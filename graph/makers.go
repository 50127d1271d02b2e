package graph

// Makers returns a map from every result to the node that computes it. For inputs, state
// and None the map has nil.
func (f *Function) Makers() map[Value]*Node {
	makers := make(map[Value]*Node, len(f.Values))
	for i := range f.Nodes {
		for _, v := range f.Nodes[i].Out {
			makers[v] = &f.Nodes[i]
		}
	}
	return makers
}
