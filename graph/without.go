package graph

import "slices"

// IsAuxiliary reports whether an output of that name is an auxiliary head: GoogLeNet has two.
func IsAuxiliary(output string) bool { return output == Auxiliary || output == Auxiliary+"2" }

// WithoutAuxiliary returns g without its auxiliary heads and without the nodes and the
// state that only these need. It returns g itself if g has no auxiliary head or consists of
// one.
func (g *Graph) WithoutAuxiliary() (*Graph, error) {
	left := slices.DeleteFunc(slices.Clone(g.Main.Outputs), func(o Output) bool { return IsAuxiliary(o.Name) })
	if len(left) == len(g.Main.Outputs) || len(left) == 0 {
		return g, nil
	}
	main := g.Main.Clone()
	main.Outputs = left
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
