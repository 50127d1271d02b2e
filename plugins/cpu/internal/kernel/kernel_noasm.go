//go:build (!amd64 && !arm64) || purego

package kernel

// native returns the sets made of assembly. There is no assembly in this build.
func native() []*Set { return nil }
