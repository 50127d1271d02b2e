//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// int8Native returns the instruction sets of this machine that multiply bytes, by name.
func int8Native() map[string]*int8Kernels {
	all := map[string]*int8Kernels{}
	if cpu.X86.HasAVX2 {
		all["avx2 words"] = &int8AVX2Words
	}
	if cpu.X86.HasAVXVNNI {
		all["avx vnni"] = &int8AVXVNNI
	}
	if cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL {
		all["avx512 words"] = &int8AVX512Words
	}
	if cpu.X86.HasAVX512VNNI {
		all["avx512 vnni"] = &int8AVX512VNNI
	}
	if cpu.X86.HasAVX512VNNI && matrixUnits() && matrixBytes() {
		all["amx"] = &int8AMX
	}
	return all
}
