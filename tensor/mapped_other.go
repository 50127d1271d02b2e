//go:build !unix

package tensor

import "os"

// mapFile reads a file into memory.
func mapFile(path string) (*Mapped, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &Mapped{Bytes: Of(b, len(b)).Bytes}, nil
}

func (m *Mapped) release() error { return nil }

// Drop has nothing to give back: the bytes are a copy.
func (m *Mapped) Drop([]byte) {}
