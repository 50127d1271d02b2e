package run

import (
	"time"
)

// Await waits for the exchange of moments that is under way.
func (f *Frame) Await() error {
	wait := f.Waiting
	if f.Waiting = nil; wait == nil { // this device is alone
		return nil
	}
	defer f.Block(time.Now())
	return wait()
}

// settle waits for all exchanges that are under way.
func (f *Frame) settle() error {
	first := f.Await()
	defer f.Block(time.Now())
	for _, wait := range f.Pending {
		if err := wait(); first == nil {
			first = err
		}
	}
	f.Pending = nil
	return first
}

// Block counts the time since began as time in which the run was blocked.
func (f *Frame) Block(began time.Time) { f.Blocked += time.Since(began) }

// Members returns the number of replicas of the group and those held here. A
// device that has not joined holds all replicas of what it runs.
func (f *Frame) Members() (leaves int, held []int) {
	if g := f.Group; g != nil {
		return g.Leaves(), g.Replicas[g.Rank]
	}
	for r := range f.Rows {
		held = append(held, r)
	}
	return len(f.Rows), held
}
