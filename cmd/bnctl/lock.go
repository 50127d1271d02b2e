package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/bnctl/bnctl/serialize"
)

// locked is one row of devices.lock: a plugin as it was when it was added. It
// guards against change, not against malice: a plugin runs with its user's rights.
type locked struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	SHA256   string `json:"sha256"`
}

// lock is the file devices.lock, sorted by name.
type lock []locked

// maxLock bounds the file, in bytes.
const maxLock = 1 << 20

// lockPath returns where devices.lock is; "" if the user has no home.
func lockPath() string {
	folder, err := dataFolder()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "devices.lock")
}

// readLock reads devices.lock. That there is none is no error.
func readLock() (lock, error) {
	path := lockPath()
	f, err := os.Open(path)
	if path == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var l lock
	if err := json.NewDecoder(io.LimitReader(f, maxLock)).Decode(&l); err != nil {
		return nil, fmt.Errorf("%s: %w; mend it, or remove it and add the plugins again", path, err)
	}
	return l, nil
}

// write replaces devices.lock.
func (l lock) write() error {
	path := lockPath()
	if path == "" {
		return errors.New("there is no home folder for devices.lock; set XDG_DATA_HOME")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return serialize.WriteFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(l)
	})
}

// find returns the row of a plugin; nil if there is none, or one of another path.
func (l lock) find(name, path string) *locked {
	for i := range l {
		if l[i].Name == name && l[i].Path == path {
			return &l[i]
		}
	}
	return nil
}

// without returns the rows of all other plugins.
func (l lock) without(name string) lock {
	return slices.DeleteFunc(slices.Clone(l), func(x locked) bool { return x.Name == name })
}

// guarded refuses an executable that others could have changed: one that
// they can write, or whose folder they can.
func guarded(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		i, err := os.Stat(p)
		if err != nil {
			return err
		}
		if m := i.Mode(); m.Perm()&0o002 != 0 && m&os.ModeSticky == 0 {
			return fmt.Errorf("plugin %s: %s can be written by others (%v); chmod o-w %s", path, p, m.Perm(), p)
		}
	}
	return nil
}
