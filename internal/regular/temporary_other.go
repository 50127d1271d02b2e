//go:build !unix

package regular

import "os"

// lockOpen does nothing: this system has no locks.
func lockOpen(*os.File) bool { return true }

// rename closes a file and gives it its name: it must not be open there.
func rename(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// removeStale does nothing: without locks it is unknown which files are still being
// written.
func removeStale(string) {}
