//go:build cuda

package cuda

import (
	"debug/elf"
	"os"
	"slices"
	"testing"
)

// TestBinary checks that the file can be copied to any Linux of its architecture: it needs
// the C library, in any version, with a loader that finds the driver. A static file could
// not load a driver.
func TestBinary(t *testing.T) {
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	needs, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	of := []string{"libc.so.6", "libdl.so.2", "libpthread.so.0"}
	if slices.ContainsFunc(needs, func(s string) bool { return !slices.Contains(of, s) }) {
		t.Errorf("it needs %v, more than %v", needs, of)
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Version != "" {
			t.Errorf("it needs %s of %s; build it with CGO_ENABLED=0", s.Name, s.Version)
		}
	}
}
