//go:build !linux

package remote

import "os"

// folder contains the socket of a plugin, which go-plugin creates.
type folder struct{ path string }

func newFolder() (*folder, error) {
	path, err := os.MkdirTemp("", "bnctl-")
	return &folder{path}, err
}

func (f *folder) remove() { _ = os.RemoveAll(f.path) }
