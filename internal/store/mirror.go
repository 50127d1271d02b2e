package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// Mirror fetches the file or folder at a URL, and returns its path. Until the Store's context ends it
// asks the server at intervals for new, changed and removed files, and changes the copy accordingly.
// Each file is replaced atomically.
func (s *Store) Mirror(url string, interval time.Duration) (string, error) {
	path, err := s.mirror(url)
	if err == nil {
		s.show(path, url)
	}
	if err != nil || s.o.Offline {
		return path, err
	}
	go func() {
		last := ""
		for sleep(s.ctx, interval) == nil {
			_, err := s.mirror(url)
			now := ""
			if err != nil && s.ctx.Err() == nil {
				now = err.Error()
			}
			if now != last && now != "" {
				s.o.note("%s stays as it was: %s", Redact(url), now)
			}
			last = now
		}
	}()
	return path, nil
}

// mirror brings the copy of a file or folder up to date.
func (s *Store) mirror(url string) (string, error) {
	if s.o.Offline {
		return s.Local(url)
	}
	o, err := s.stat(url)
	if errors.Is(err, fs.ErrNotExist) {
		return s.localFolder(url, err)
	}
	if err != nil {
		return "", err
	}
	path := s.cache.path("folders", keyOf(url, "file"), fileName(o.url))
	return path, s.fetchInto(filepath.Dir(path), url, filepath.Base(path), o)
}
