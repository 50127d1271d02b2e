//go:build !linux

package remote

// newFamily returns "": processes that a plugin leaves are not found on this system.
func newFamily() string { return "" }

func endFamily(string) {}
