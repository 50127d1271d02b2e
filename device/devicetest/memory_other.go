//go:build !linux

package devicetest

// residentBytes returns 0: unknown.
func residentBytes(int) int64 { return 0 }
