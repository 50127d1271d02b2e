//go:build unix

package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// way creates a folder tree that others cannot write, with a file far/bin/plugin and links
// to it, and returns its path.
func way(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"far/bin", "near"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "far/bin/plugin"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"near/direct": "../far/bin/plugin", "near/folder": filepath.Join(dir,
		"far"), "near/round": "round"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestGuarded makes each part of the path to a plugin writable for others, and checks the
// plugin by the file's real name and through links.
func TestGuarded(t *testing.T) {
	dir := way(t)
	for _, path := range []string{"far/bin/plugin", "near/direct", "near/folder/bin/plugin"} {
		if err := guarded(filepath.Join(dir, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		open := []string{"", "far", "far/bin", "far/bin/plugin"}
		if strings.HasPrefix(path, "near") {
			open = append(open, "near")
		}
		for _, part := range open {
			part = filepath.Join(dir, part)
			if err := os.Chmod(part, 0o702); err != nil {
				t.Fatal(err)
			}
			err := guarded(filepath.Join(dir, path))
			if err == nil || !strings.HasSuffix(err.Error(), "chmod o-w "+part) {
				t.Errorf("%s with %s open to others: %v", path, part, err)
			}
			if err := os.Chmod(part, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(filepath.Join(dir, "far"), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := guarded(filepath.Join(dir, "near/direct")); err != nil {
		t.Errorf("a folder with the sticky bit: %v", err)
	}
	if err := guarded(filepath.Join(dir, "near/round")); err == nil || !strings.Contains(err.Error(), "links") {
		t.Errorf("a link to itself: %v", err)
	}
}

// TestGuardedFromTheGroup checks that write permission of a group is refused if the group has other members
// than this user and root.
func TestGuardedFromTheGroup(t *testing.T) {
	wasGroup, wasPasswd := groupFile, passwdFile
	defer func() { groupFile, passwdFile = wasGroup, wasPasswd }()
	dir := way(t)
	groupFile, passwdFile = filepath.Join(dir, "group"), filepath.Join(dir, "passwd")
	part := filepath.Join(dir, "far/bin")
	if err := os.Chmod(part, 0o770); err != nil {
		t.Fatal(err)
	}
	gid, self := os.Getgid(), os.Getuid()
	users := fmt.Sprintf("root:x:0:0::/:\nme:x:%d:%d::/:\n", self, gid)
	for name, c := range map[string]struct {
		group, passwd string
		want          bool
	}{
		"of this user alone":    {fmt.Sprintf("me:x:%d:\n", gid), users, true},
		"with root":             {fmt.Sprintf("me:x:%d:root\n", gid), users, true},
		"with another":          {fmt.Sprintf("me:x:%d:root,eve\n", gid), users, false},
		"another's first group": {fmt.Sprintf("me:x:%d:\n", gid), users + fmt.Sprintf("eve:x:77:%d::/:\n", gid), false},
		"not known":             {"x:x:99999:\n", users, false},
	} {
		for path, text := range map[string]string{groupFile: c.group, passwdFile: c.passwd} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := guarded(filepath.Join(part, "plugin"))
		if c.want != (err == nil) || err != nil && !strings.HasSuffix(err.Error(), "chmod g-w "+part) {
			t.Errorf("a group %s: %v", name, err)
		}
	}
}
