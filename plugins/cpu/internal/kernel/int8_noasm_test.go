//go:build !(amd64 || arm64) || purego

package kernel

// int8Native returns no instruction sets: without assembly none multiplies bytes.
func int8Native() map[string]*int8Kernels { return nil }
