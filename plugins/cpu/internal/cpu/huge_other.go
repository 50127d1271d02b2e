//go:build !linux

package cpu

// askForHugePages is a wish that only Linux knows.
func askForHugePages([]byte) {}
