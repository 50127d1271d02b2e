package store_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
)

// smallDisk mounts a file system of a mebibyte.
func smallDisk(t *testing.T) string {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small disk cannot be mounted (it needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// TestFullDisk mounts a small file system, which Linux permits only to root.
func TestFullDisk(t *testing.T) {
	w, content := newWorld(t), random(4<<20)
	server := storetest.Web(t, serveFile(content))
	folder := smallDisk(t)
	_, err := w.store(func(o *store.Options) { o.Cache = folder }).Local(server.URL + "/net.pth")
	wantError(t, err, "no space left for the cache in "+folder, "models cache remove", "BNCTL_CACHE")
	left, _ := filepath.Glob(filepath.Join(folder, "partial", "*"))
	if len(left) > 0 {
		t.Errorf("%v are left on the full disk", left)
	}
}
