//go:build !amd64 || purego

package kernel

// stagingSets returns the sets that can stage positions.
func stagingSets() []*Set { return []*Set{matrixDefinition} }
