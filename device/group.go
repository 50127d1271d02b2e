package device

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device/collective"
)

// Group describes the devices that compute a run together. These devices are its
// members. Each member receives a Group with its rank. If several bnctl
// processes share a run, each process has a group for its devices.
type Group struct {
	Generation uint64  // number of the group in its run; a later group has a higher one
	Rank       int     // rank of this member, from 0
	Replicas   [][]int // replicas by rank; increasing; without duplicates; each below Leaves()
	Level      string  // how members exchange data: a level that all members list in Info.Levels
	Rendezvous []byte  // information that members need to find each other at this level
	// Exchange exchanges data with the other members of the group. A device only calls it;
	// in a plugin the SDK provides it. It is nil at levels at which members exchange data
	// without the host.
	Exchange collective.Exchanger
	// Machine is set at level OnMachine: the ranks of the members on this member's machine, increasing.
	// They add their values along the tree. The first of them exchanges the sums with the members on
	// other machines, unless this machine has all leaves of the tree.
	Machine []int
	// Tree is R, the number of leaves of the canonical tree (package
	// collective), which has one leaf for each replica of the run. 0 means that
	// the members hold all replicas. If they do not, Exchange also exchanges
	// data with the bnctl processes that hold the other replicas.
	Tree int
}

// Leaves returns R, the number of leaves of the canonical tree.
func (g Group) Leaves() int {
	if g.Tree != 0 {
		return g.Tree
	}
	return g.replicaCount()
}

// Exchanged returns, increasing, the replicas of the values that this member exchanges with the host:
// the member's replicas. At level OnMachine they are all replicas of the machine for the machine's first
// member, and nil for its other members.
func (g Group) Exchanged() []int {
	switch {
	case len(g.Machine) == 0:
		return g.Replicas[g.Rank]
	case g.Machine[0] != g.Rank:
		return nil
	}
	var all []int
	for _, rank := range g.Machine {
		all = append(all, g.Replicas[rank]...)
	}
	slices.Sort(all)
	return all
}

// replicaCount counts the replicas of the members.
func (g Group) replicaCount() int {
	n := 0
	for _, r := range g.Replicas {
		n += len(r)
	}
	return n
}

// Whole reports whether the members together hold all leaves of the tree.
func (g Group) Whole() bool { return g.replicaCount() == g.Leaves() }

// Alone reports whether the group has one member, which holds all leaves, so
// that no exchange is needed.
func (g Group) Alone() bool { return len(g.Replicas) <= 1 && g.Whole() }

// CheckExchange does the same as Check for a device that reaches the other members only through Exchange.
// It also returns an error if Exchange is nil, unless the device is alone in its group.
func (g Group) CheckExchange() error {
	if err := g.Check(); err != nil {
		return err
	}
	if !g.Alone() && g.Exchange == nil {
		return fmt.Errorf("a group of %d without a way to exchange", len(g.Replicas))
	}
	return nil
}

// LocalReplicas returns the number of replicas of member Rank, or -1 if g is nil.
func (g *Group) LocalReplicas() int {
	if g == nil {
		return -1
	}
	return len(g.Replicas[g.Rank])
}

// Check returns an error if no device can join the group.
func (g Group) Check() error {
	if g.Rank < 0 || g.Rank >= len(g.Replicas) {
		return fmt.Errorf("rank %d of %d members", g.Rank, len(g.Replicas))
	}
	for i, rank := range g.Machine {
		if rank < 0 || rank >= len(g.Replicas) || i > 0 && rank <= g.Machine[i-1] {
			return fmt.Errorf("ranks %v of a machine, of %d members", g.Machine, len(g.Replicas))
		}
	}
	if len(g.Machine) > 0 && !slices.Contains(g.Machine, g.Rank) {
		return fmt.Errorf("ranks %v of the machine of rank %d", g.Machine, g.Rank)
	}
	var all []int
	for rank, local := range g.Replicas {
		if !slices.IsSorted(local) {
			return fmt.Errorf("replicas %v of rank %d do not increase", local, rank)
		}
		all = append(all, local...)
	}
	slices.Sort(all)
	leaves := g.Leaves()
	switch twice := len(slices.Compact(slices.Clone(all))) < len(all); {
	case leaves < len(all):
		return fmt.Errorf("the members hold replicas %v of a tree of %d leaves", all, leaves)
	case len(all) > 0 && (all[0] < 0 || all[len(all)-1] >= leaves):
		return fmt.Errorf("the members hold replicas %v, want each of 0 to %d", all, leaves-1)
	case twice:
		return fmt.Errorf("the members hold replicas %v, want none twice", all)
	}
	return nil
}
