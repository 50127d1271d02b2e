package models

import (
	"fmt"
	"path"

	"github.com/bnctl/bnctl/graph"
)

// Frozen returns the names of the trained tensors that match one of the
// patterns (path.Match: "*" matches any characters, "layer1.*" a stage).
// Training does not change them. A pattern without a match is an error.
func Frozen(state []graph.State, patterns []string) (map[string]bool, error) {
	frozen := map[string]bool{}
	for _, p := range patterns {
		found := false
		for _, s := range state {
			ok, err := path.Match(p, s.Name)
			if err != nil {
				return nil, fmt.Errorf("pattern %q to freeze: %w", p, err)
			}
			if ok && s.Role.Trained() {
				frozen[s.Name], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("pattern %q to freeze matches no weight; the weights are called %s",
				p, some(trained(state)))
		}
	}
	return frozen, nil
}

func trained(state []graph.State) []string {
	var names []string
	for _, s := range state {
		if s.Role.Trained() {
			names = append(names, s.Name)
		}
	}
	return names
}
