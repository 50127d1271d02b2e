//go:build !linux

package tensor

// newPart returns nil: other processes could not find the memory.
func newPart(int) *Mapped { return nil }

func giveBack([]*Mapped, []byte) {}
