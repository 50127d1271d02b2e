//go:build (!amd64 && !arm64) || purego

package kernel

// native returns the sets made of assembly: none here.
func native() []*Set { return nil }
