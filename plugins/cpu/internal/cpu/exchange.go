package cpu

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/graph"
)

// await waits for the exchange of moments that is under way.
func (f *frame) await() error {
	wait := f.waiting
	if f.waiting = nil; wait == nil { // this device is alone
		return nil
	}
	defer f.block(time.Now())
	return wait()
}

// settle waits for all exchanges that are under way.
func (f *frame) settle() error {
	first := f.await()
	defer f.block(time.Now())
	for _, wait := range f.pending {
		if err := wait(); first == nil {
			first = err
		}
	}
	f.pending = nil
	return first
}

// block counts the time since began as time in which the run was blocked.
func (f *frame) block(began time.Time) { f.blocked += time.Since(began) }

// members returns the number of replicas of the group and those held here. A
// device that has not joined holds all replicas of what it runs.
func (f *frame) members() (leaves int, held []int) {
	if g := f.group; g != nil {
		return g.Leaves(), g.Replicas[g.Rank]
	}
	for r := range f.rows {
		held = append(held, r)
	}
	return len(f.rows), held
}

// needsGroup reports whether a function exchanges anything.
func (fn *function) needsGroup() bool {
	return slices.ContainsFunc(fn.Nodes, func(n graph.Node) bool { return n.Op == graph.AllReduce })
}
