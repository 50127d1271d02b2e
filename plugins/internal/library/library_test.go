//go:build linux

package library

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestReasonOfEveryGoroutine checks that opening a missing library returns the right reason
// in every goroutine, however many call at the same time.
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
