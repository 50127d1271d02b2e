//go:build !(amd64 || arm64) || purego

package kernel

// int8Native returns what of this machine multiplies bytes, by name: nothing.
func int8Native() map[string]*int8Kernels { return nil }
