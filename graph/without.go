package graph

import "slices"

// Without returns g without the output of that name, and without the nodes and
// the state that only this output needs. It returns g itself if g has no such
// output, or no other one.
func (g *Graph) Without(output string) (*Graph, error) {
	i := slices.IndexFunc(g.Main.Outputs, func(o Output) bool { return o.Name == output })
	if i < 0 || len(g.Main.Outputs) == 1 {
		return g, nil
	}
	main := g.Main.Clone()
	main.Outputs = slices.Delete(main.Outputs, i, i+1)
	main, err := Prune(main, g.State)
	if err != nil {
		return nil, err
	}
	return &Graph{Name: g.Name, Main: main, State: stillRead(g.State, g.Main, main)}, nil
}

// reads returns the names of the state that f reads.
func reads(f *Function) map[string]bool {
	names := map[string]bool{}
	for _, v := range f.Values {
		names[v.State] = true
	}
	return names
}
