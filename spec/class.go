package spec

import (
	"path"
	"slices"
)

// ofClasses returns the vectors of some numbered classes.
func ofClasses(vectors []*Vector, classes []string) []*Vector {
	return slices.DeleteFunc(slices.Clone(vectors), func(v *Vector) bool {
		return !slices.Contains(classes, v.Class)
	})
}

// Spread returns the vectors in another order: first one vector of each operation, then a second vector of
// each operation, and so on. So the beginning of the list covers all operations.
func Spread(vectors []*Vector) []*Vector {
	turn := map[string]int{} // number of vectors of a class and an operation so far
	turns := map[*Vector]int{}
	for _, v := range vectors {
		operation := path.Dir(v.Name)
		turns[v] = turn[operation]
		turn[operation]++
	}
	out := slices.Clone(vectors)
	slices.SortStableFunc(out, func(a, b *Vector) int { return turns[a] - turns[b] })
	return out
}
