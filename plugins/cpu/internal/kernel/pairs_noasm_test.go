//go:build !amd64 || purego

package kernel

// pairsSets returns an empty list: this build has no sets of class fma.
func pairsSets() []*Set { return nil }
