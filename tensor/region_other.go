//go:build !linux

package tensor

// newRegionFile returns nil: other processes could not find the memory.
func newRegionFile(int) *Mapped { return nil }

func giveBack([]*Mapped, []byte) {}
