//go:build !amd64 || purego

package kernel

// pairsSets returns the sets of class fma that this machine has: none.
func pairsSets() []*Set { return nil }
