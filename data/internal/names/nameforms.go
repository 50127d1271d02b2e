package names

import (
	"os"

	"golang.org/x/text/unicode/norm"
)

// A letter with an accent has one code point (NFC), as editors write it, or two (NFD), as macOS names files.
// Names of classes and fields of tables become NFC, so that one name is one class.

// Composed returns a name in NFC.
func Composed(name string) string { return norm.NFC.String(name) }

// StoredPath returns the form of a path that exists in the file system: path itself, its NFC or its NFD.
// It returns path itself if no form exists.
func StoredPath(path string) string {
	for _, p := range []string{path, norm.NFC.String(path), norm.NFD.String(path)} {
		if _, err := os.Lstat(p); err == nil {
			return p
		}
	}
	return path
}
