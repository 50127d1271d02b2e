package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// ErrUnlocked is the error for a plugin that was not added to devices.lock.
var ErrUnlocked = errors.New("is not in devices.lock")

// Locked is one row of devices.lock: a plugin as it was when it was added. The
// lock protects against changed files, but not against malicious plugins: a plugin
// runs with the rights of its user.
type Locked struct {
	Name     string `json:"name"`
	Path     string `json:"path"` // absolute
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	SHA256   string `json:"sha256"` // SHA-256 of the executable, in hexadecimal
}

// Lock is the file devices.lock. It is sorted by name, and has one row for each name:
//
//	[
//	  {
//	    "name": "mine",
//	    "path": "/home/ada/.local/share/bnctl/plugins/bnctl-device-mine",
//	    "version": "0.1",
//	    "protocol": 1,
//	    "sha256": "9f86d081884c7d65…"
//	  }
//	]
type Lock []Locked

// maxLock bounds the file, in bytes: some thousand plugins.
const maxLock = 1 << 20

// LockPath returns the path of devices.lock; "" if the user has no home folder.
func LockPath() string {
	folder, err := dataFolder()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "devices.lock")
}

// ReadLock reads devices.lock. It returns no rows if the file does not exist. It returns an error if
// other users can write or replace the file, because a row permits a program to run. It also returns an
// error if a row is incomplete, has an unknown field, or repeats the name of another row. For example, a
// plugin without a SHA-256 would start unchecked.
func ReadLock() (Lock, error) {
	path := LockPath()
	f, err := os.Open(path)
	if path == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := guarded(path); err != nil {
		return nil, fmt.Errorf("%w: it says which plugins may be started", err)
	}
	l, err := parseLock(io.LimitReader(f, maxLock))
	if err != nil {
		return nil, problem.Advise("remove the file and add the plugins again with {plugin-add}", "%s: %w",
			path, err)
	}
	return l, nil
}

// Write replaces devices.lock atomically. Only the user may read it.
// It returns an error if a row is incomplete.
func (l Lock) Write() error {
	if err := l.check(); err != nil {
		return fmt.Errorf("devices.lock: %w", err)
	}
	path := LockPath()
	if path == "" {
		return problem.Advise("set XDG_DATA_HOME", "there is no home folder for devices.lock")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return regular.WriteFile(path, 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(l)
	})
}

// Find returns the row of the plugin with this name and path, or nil.
func (l Lock) Find(name, path string) *Locked {
	for i := range l {
		if l[i].Name == name && l[i].Path == path {
			return &l[i]
		}
	}
	return nil
}

// Without returns a copy of l without the row with this name.
func (l Lock) Without(name string) Lock {
	return slices.DeleteFunc(slices.Clone(l), func(x Locked) bool { return x.Name == name })
}

// With returns a copy of l with row, which replaces a row of the same name.
func (l Lock) With(row Locked) Lock {
	out := append(l.Without(row.Name), row)
	slices.SortFunc(out, func(a, b Locked) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Locked returns the row of devices.lock for the running plugin. The row has the SHA-256 of the executable
// that was started, even if another file now has its path.
func (p *Plugin) Locked() (Locked, error) {
	sum, err := sumOf(p.binary.file)
	return Locked{p.command.Name, p.command.Path, p.info.Version, device.ProtocolV1, sum}, err
}

// Sum returns the SHA-256 of a file in hexadecimal.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sumOf(f)
}
