//go:build !unix

package regular

import "os"

// lockOpen does nothing: this system has no locks.
func lockOpen(*os.File) bool { return true }

// rename closes f and renames it to path. It closes f first, because this system does not rename open
// files.
func rename(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// removeStale does nothing: without locks it is unknown which files are still being
// written.
func removeStale(string) {}
