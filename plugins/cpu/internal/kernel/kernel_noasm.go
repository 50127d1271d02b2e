//go:build !amd64 || purego

package kernel

// native returns the sets made of assembly: none here.
func native() []*Set { return nil }
