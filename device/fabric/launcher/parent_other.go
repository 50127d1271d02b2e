//go:build !linux

package launcher

func parentCores() int { return 0 }
