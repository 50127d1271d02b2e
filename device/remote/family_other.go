//go:build !linux

package remote

// newFamily returns nothing: what a plugin leaves is not found here.
func newFamily() string { return "" }

func endFamily(string) {}
