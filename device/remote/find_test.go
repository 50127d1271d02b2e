package remote_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
)

// executable makes a file that could be run, and its folder.
func executable(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// place creates a folder that holds the user's data during a test, and returns it.
func place(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_DATA_HOME", home)
	t.Setenv("BNCTL_PLUGIN_PATH", "")
	return home
}

// row returns a complete row of devices.lock.
func row(name, path string) remote.Locked {
	return remote.Locked{Name: name, Path: path, Version: "1", Protocol: 1, SHA256: strings.Repeat("0f", 32)}
}

func TestFind(t *testing.T) {
	home := place(t)
	given := executable(t, home, "elsewhere", "bnctl-device-a")
	onPath := executable(t, home, "first", "bnctl-device-b")
	executable(t, home, "first", "bnctl-device-a") // --device-plugin has a higher priority
	executable(t, home, "first", "device-z")       // not the name of a plugin
	data := executable(t, home, "bnctl", "plugins", "bnctl-device-c.exe")
	executable(t, home, "bnctl", "plugins", "bnctl-device-b")
	executable(t, home, "here", "bnctl-device-d")
	t.Setenv("BNCTL_PLUGIN_PATH", strings.Join([]string{filepath.Join(home, "first"), "relative",
		filepath.Join(home, "missing")}, string(filepath.ListSeparator)))
	t.Setenv("PATH", filepath.Join(home, "here")) // Find uses neither $PATH nor the current folder
	t.Chdir(filepath.Join(home, "here"))
	added := filepath.Join(home, "gone", "bnctl-device-e")
	if err := (remote.Lock{row("e", added), row("a", "/nowhere")}).Write(); err != nil {
		t.Fatal(err)
	}
	got, err := remote.Find(given)
	if err != nil {
		t.Fatal(err)
	}
	want := []remote.Found{{Name: "a", Path: given}, {Name: "b", Path: onPath}, {Name: "c", Path: data},
		{Name: "e", Path: added}}
	if !slices.Equal(got, want) {
		t.Errorf("Find() = %+v, want %+v", got, want)
	}
	if slices.Contains(remote.Folders(), "relative") {
		t.Error("a folder that depends on the current one is searched")
	}
}

func TestCommandOfFound(t *testing.T) {
	home := place(t)
	f := remote.Found{Name: "a", Path: executable(t, home, "bin", "bnctl-device-a")}
	if _, err := f.Command(false); !errors.Is(err, remote.ErrUnlocked) || !strings.Contains(err.Error(),
		"plugin-add") {
		t.Errorf("a plugin that was not added: %v", err)
	}
	if c, err := f.Command(true); err != nil || c.SHA256 != "" || c.Path != f.Path {
		t.Errorf("with unlocked plugins allowed: %+v, %v", c, err)
	}
	sum, err := remote.Sum(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := (remote.Lock{}).With(remote.Locked{Name: "a", Path: f.Path, Protocol: 1, SHA256: sum}).Write(); err != nil {
		t.Fatal(err)
	}
	if c, err := f.Command(false); err != nil || c.SHA256 != sum {
		t.Errorf("a plugin that was added: %+v, %v", c, err)
	}
	moved := remote.Found{Name: "a", Path: executable(t, home, "other", "bnctl-device-a")}
	if _, err := moved.Command(false); !errors.Is(err, remote.ErrUnlocked) {
		t.Errorf("another file of the name of one that was added: %v", err)
	}
	if _, err := (remote.Found{Name: "x", Path: "/nowhere/x"}).Command(true); !errors.Is(err,
		device.Unavailable) {
		t.Errorf("a plugin that is not there: %v", err)
	}
	if runtime.GOOS == "windows" {
		return // permissions differ from Unix
	}
	for _, path := range []string{f.Path, filepath.Dir(f.Path)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		_, err := f.Command(true)
		if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), "chmod o-w "+path) {
			t.Errorf("%s can be written by others: %v", path, err)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLock(t *testing.T) {
	home := place(t)
	if l, err := remote.ReadLock(); len(l) != 0 || err != nil {
		t.Errorf("without a file the lock is %v, %v", l, err)
	}
	var l remote.Lock
	for _, name := range []string{"m", "z", "a", "m"} {
		l = l.With(row(name, "/"+name+"/"+name))
	}
	if err := l.Write(); err != nil {
		t.Fatal(err)
	}
	got, err := remote.ReadLock()
	if err != nil || !slices.Equal(got, l) || len(got) != 3 || got[0].Name != "a" {
		t.Errorf("written %v, read %v, %v", l, got, err)
	}
	if l.Find("m", "/m/m") == nil || l.Find("m", "/m") != nil || l.Without("m").Find("m", "/m/m") != nil {
		t.Error("Find finds another row than that of name and path")
	}
	if entries, err := os.ReadDir(filepath.Join(home, "bnctl")); len(entries) != 1 || err != nil {
		t.Errorf("beside devices.lock something is left: %v, %v", entries, err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(remote.LockPath(), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := remote.ReadLock()
		if err == nil || !strings.Contains(err.Error(), "chmod o-w "+remote.LockPath()) {
			t.Errorf("a lock that everybody can write: %v", err)
		}
		if err := os.Chmod(remote.LockPath(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(remote.LockPath(), []byte(`[{"name":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.ReadLock(); err == nil || !strings.Contains(err.Error(), "devices.lock: ") {
		t.Errorf("a lock that ends early: %v", err)
	}
}

// TestLockedIsWhatRuns checks that the recorded SHA-256 is of the file that was started, even
// if another file has its name afterwards.
func TestLockedIsWhatRuns(t *testing.T) {
	place(t)
	p := start(t, "ref")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	row, err := p.Locked()
	if err != nil {
		t.Fatal(err)
	}
	sum, err := remote.Sum(self)
	if err != nil || row.SHA256 != sum || row.Path != self || row.Protocol != device.ProtocolV1 {
		t.Errorf("Locked() = %+v, %v; the sum of the file is %s", row, err, sum)
	}
	c := plugin("ref")
	c.SHA256 = row.SHA256
	again, err := remote.Start(context.Background(), c)
	if err != nil {
		t.Fatalf("the plugin that was recorded does not start: %v", err)
	}
	again.Close()
}
