package graph

// Users returns, for every value, the indices of the nodes that read it, in order. A node that reads a value
// twice is listed once. Outputs and updates are not nodes: before a device fuses a value away, it must also
// check them.
func (f *Function) Users() [][]int {
	users := make([][]int, len(f.Values))
	for i := range f.Nodes {
		for _, v := range f.Nodes[i].In {
			if v == None {
				continue
			}
			if u := users[v]; len(u) == 0 || u[len(u)-1] != i {
				users[v] = append(u, i)
			}
		}
	}
	return users
}

// results returns the values that leave the function.
func (f *Function) results() []Value {
	var out []Value
	for _, o := range f.Outputs {
		out = append(out, o.Value)
	}
	for _, u := range f.Updates {
		out = append(out, u.Value)
	}
	return out
}

// live reports for every node whether an output, an update, or a node without results depends on it.
func (f *Function) live() []bool {
	needed := make([]bool, len(f.Values))
	for _, v := range f.results() {
		needed[v] = true
	}
	live := make([]bool, len(f.Nodes))
	for i := len(f.Nodes) - 1; i >= 0; i-- {
		n := &f.Nodes[i]
		live[i] = len(n.Out) == 0
		for _, v := range n.Out {
			live[i] = live[i] || needed[v]
		}
		for _, v := range n.In {
			if v != None && live[i] {
				needed[v] = true
			}
		}
	}
	return live
}
