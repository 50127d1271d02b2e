//go:build !unix

package tensor

import (
	"math"

	"github.com/bnctl/bnctl/internal/regular"
)

// mapFile reads a file into memory.
func mapFile(path string) (*Mapped, error) {
	b, err := regular.Read(path, math.MaxInt64-1)
	if err != nil {
		return nil, err
	}
	return &Mapped{Bytes: Of(b, len(b)).Bytes}, nil
}

func (m *Mapped) release() error { return nil }

// DropPages does nothing: the bytes are a copy.
func (m *Mapped) DropPages([]byte) {}
