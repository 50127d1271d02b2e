//go:build !linux

package remote

import "os"

// folder is where go-plugin makes the socket of one plugin.
type folder struct{ path string }

func newFolder() (*folder, error) {
	path, err := os.MkdirTemp("", "bnctl-")
	return &folder{path}, err
}

func (f *folder) remove() { _ = os.RemoveAll(f.path) }
