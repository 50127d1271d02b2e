//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// int8Native returns the kernels of this machine that multiply bytes, by name.
func int8Native() map[string]*int8Kernels {
	all := map[string]*int8Kernels{"neon": &int8NEON}
	if cpu.ARM64.HasASIMDDP {
		all["neon dot"] = &int8NEONDot
	}
	return all
}
