//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// pairsSets returns the sets of class fma of this machine, and the same sets without the
// instructions for bfloat16.
func pairsSets() []*Set {
	sets := fused()
	if cpu.X86.HasAVX512F && cpu.X86.HasFMA {
		without := &Set{Name: "avx512 without bf16", Class: "fma", fused: true}
		withBF16(without, false, false)
		sets = append(sets, without)
	}
	return sets
}
