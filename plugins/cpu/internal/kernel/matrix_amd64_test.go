//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// stagingSets returns the sets that can stage positions. They include sets with the
// instructions for bfloat16 on machines without matrix units.
func stagingSets() []*Set {
	if !cpu.X86.HasAVX512BF16 {
		return []*Set{matrixDefinition}
	}
	return []*Set{matrixDefinition, {Name: "avx512 with bf16", Class: "amx", fused: true, matrix: &matrixAMX}}
}
