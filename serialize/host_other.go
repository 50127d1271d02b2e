//go:build !unix

package serialize

import (
	"os"

	"github.com/bnctl/bnctl/tensor"
)

// mapFile reads a file into aligned memory.
func mapFile(path string) ([]byte, func() error, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return tensor.Of(b, len(b)).Bytes, func() error { return nil }, nil
}

// syncFolder has nothing to do: here a rename lasts by itself, or nothing can be done about it.
func syncFolder(string) error { return nil }
