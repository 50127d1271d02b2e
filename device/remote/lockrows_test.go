package remote_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/remote"
)

// writeLock writes text to devices.lock.
func writeLock(t *testing.T, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(remote.LockPath()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(remote.LockPath(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestIncompleteLockIsRefused removes each field of a lock file's row except the version, empties it, and
// replaces it by an invalid value. A row without a field must not start a plugin without a check.
func TestIncompleteLockIsRefused(t *testing.T) {
	home := place(t)
	f := remote.Found{Name: "a", Path: executable(t, home, "bin", "bnctl-device-a")}
	sum, err := remote.Sum(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	whole := func() map[string]any {
		return map[string]any{"name": "a", "path": f.Path, "version": "1", "protocol": 1, "sha256": sum}
	}
	text := func(rows ...map[string]any) string {
		b, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	writeLock(t, text(whole()))
	if c, err := f.Command(false); err != nil || c.SHA256 != sum {
		t.Fatalf("a complete row: %+v, %v", c, err)
	}
	bad := map[string]string{"two rows of a name": text(whole(), whole()), "two lists": text(whole()) + text(whole()),
		"text behind it": text(whole()) + "x", "no list": `{"name":"a"}`}
	for key, values := range map[string][]any{"name": {"", nil, 5}, "path": {"", "bnctl-device-a", nil},
		"protocol": {0, 2, nil, "1"}, "sha256": {"", nil, sum[:40], sum + "00", strings.Repeat("g", 64)},
		"unknown": {"", true}} {
		for _, v := range values {
			r := whole()
			r[key] = v
			bad[key+" is "+strings.TrimSpace(text(r))] = text(r)
		}
		if r := whole(); r[key] != nil {
			delete(r, key)
			bad["no "+key] = text(r)
		}
	}
	for what, lock := range bad {
		writeLock(t, lock)
		if _, err := remote.ReadLock(); err == nil || !strings.Contains(err.Error(), "devices.lock: ") {
			t.Errorf("%s: ReadLock: %v", what, err)
		}
		if c, err := f.Command(false); err == nil {
			t.Errorf("%s: the plugin would start with the sum %q", what, c.SHA256)
		}
		if _, err := remote.Find(); err == nil {
			t.Errorf("%s: Find reads it", what)
		}
		if _, err := remote.FindFabric("a"); err == nil || !strings.Contains(err.Error(), "devices.lock") {
			t.Errorf("%s: FindFabric: %v", what, err)
		}
	}
	if err := (remote.Lock{{Name: "a", Path: f.Path, Protocol: 1}}).Write(); err == nil {
		t.Error("a row without a sum is written")
	}
}

// TestIncompleteReattach checks that an item of BNCTL_REATTACH_DEVICES needs a name and a greeting.
func TestIncompleteReattach(t *testing.T) {
	place(t)
	for _, text := range []string{"mine", "mine=", "=1|1|unix|/x|grpc|", "a=1|1|unix|/x|grpc|,", " = "} {
		t.Setenv("BNCTL_REATTACH_DEVICES", text)
		if got, err := remote.Find(); err == nil || !strings.Contains(err.Error(), "want NAME=GREETING") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
