package spec

import (
	"path"
	"slices"
)

// ofClasses returns the vectors of some numbered classes.
func ofClasses(all []*Vector, classes []string) []*Vector {
	return slices.DeleteFunc(slices.Clone(all), func(v *Vector) bool {
		return !slices.Contains(classes, v.Class)
	})
}

// Spread returns the vectors in another order: first one vector of each operation, then a second vector of
// each operation, and so on. So the beginning of the list covers all operations.
func Spread(all []*Vector) []*Vector {
	turn := map[string]int{} // number of vectors of a class and an operation so far
	turns := map[*Vector]int{}
	for _, v := range all {
		operation := path.Dir(v.Name)
		turns[v] = turn[operation]
		turn[operation]++
	}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *Vector) int { return turns[a] - turns[b] })
	return out
}
