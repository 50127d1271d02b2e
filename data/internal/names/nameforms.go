package names

import (
	"os"

	"golang.org/x/text/unicode/norm"
)

// A letter with an accent is one code point (NFC), as editors write it, or two (NFD), as macOS writes names
// of files. The names of classes and the fields of tables are converted to NFC, so that one name means one
// class.

// Composed returns a name in NFC, the form with composed letters.
func Composed(name string) string { return norm.NFC.String(name) }

// StoredPath returns that form of a path which exists in the file system: path itself, its NFC or its NFD. If
// no form exists, it returns path itself.
func StoredPath(path string) string {
	for _, p := range []string{path, norm.NFC.String(path), norm.NFD.String(path)} {
		if _, err := os.Lstat(p); err == nil {
			return p
		}
	}
	return path
}
