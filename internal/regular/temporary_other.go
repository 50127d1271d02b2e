//go:build !unix

package regular

import "os"

// lockOpen does nothing: there are no locks.
func lockOpen(*os.File) bool { return true }

// rename closes a file and gives it its name: it must not be open there.
func rename(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// removeStale does nothing: without locks nobody knows what is still written.
func removeStale(string) {}
