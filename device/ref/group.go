package ref

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
)

// checkGroup reports whether the members hold each replica once.
func checkGroup(g device.Group) error {
	if g.Rank < 0 || g.Rank >= len(g.Replicas) {
		return fmt.Errorf("rank %d of %d members", g.Rank, len(g.Replicas))
	}
	var all []int
	for rank, held := range g.Replicas {
		if !slices.IsSorted(held) {
			return fmt.Errorf("replicas %v of rank %d do not increase", held, rank)
		}
		all = append(all, held...)
	}
	slices.Sort(all)
	for i, r := range all {
		if i != r {
			return fmt.Errorf("the members hold replicas %v, want each of 0 to %d once", all, len(all)-1)
		}
	}
	return nil
}
