//go:build linux

package library

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestReasonOfEveryGoroutine: that a library cannot be opened has a reason,
// the right one, however many ask at once.
func TestReasonOfEveryGoroutine(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		path := filepath.Join(dir, strings.Repeat("x", i+1)+".so")
		if err := os.WriteFile(path, []byte("no library"), 0o600); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 2000 {
				if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: %v", path, err)
					return
				}
			}
		})
	}
	all.Wait()
}
