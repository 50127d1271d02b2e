package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/internal/regular"
)

// Cached is a file in the cache.
type Cached struct {
	URL     string    `json:"url"` // without credentials
	Sum     string    `json:"sha256"`
	Size    int64     `json:"size"`
	Path    string    `json:"path"`
	Fetched time.Time `json:"fetched"`
}

// Folder returns the folder of the cache.
func (s *Store) Folder() string { return s.cache.folder }

// Cached returns the files in the cache in the order of their URLs, and the bytes of everything else
// in it: files of data sources, and downloads that are not complete.
func (s *Store) Cached() (files []Cached, others int64, err error) {
	names, _ := filepath.Glob(s.cache.path("urls", "*.json"))
	for _, name := range names {
		b, err := regular.Read(name, 1<<16)
		var r record
		if err != nil || json.Unmarshal(b, &r) != nil || !isSum(r.Sum) || r.Name != fileName(r.Name) {
			continue
		}
		files = append(files, Cached{URL: r.URL, Sum: r.Sum, Size: r.Size, Fetched: r.Fetched,
			Path: s.cache.path("content", r.Sum, r.Name)})
	}
	slices.SortFunc(files, func(a, b Cached) int { return strings.Compare(a.URL, b.URL) })
	for _, folder := range []string{"objects", "partial", "staging"} {
		size, err := sizeOf(s.cache.path(folder))
		if err != nil {
			return nil, 0, err
		}
		others += size
	}
	return files, others, nil
}

func sizeOf(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return ignoreMissing(err)
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return ignoreMissing(err)
	})
	return total, err
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// Remove removes files from the cache: by URL, by sum, or all of them if the text
// is "all". It returns how many files of URLs were removed.
func (s *Store) Remove(text string) (count int, err error) {
	files, _, err := s.Cached()
	if err != nil {
		return 0, err
	}
	if text == "all" {
		for _, folder := range []string{"content", "urls", "partial", "folders", "objects", "staging", "locks"} {
			if err := os.RemoveAll(s.cache.path(folder)); err != nil {
				return 0, err
			}
		}
		return len(files), nil
	}
	retained := map[string]bool{}
	for _, f := range files {
		if f.URL != text && f.Sum != text && Redact(text) != f.URL {
			retained[f.Sum] = true
		}
	}
	for _, f := range files {
		if f.URL != text && f.Sum != text && Redact(text) != f.URL {
			continue
		}
		count++
		if !retained[f.Sum] {
			err = os.RemoveAll(s.cache.path("content", f.Sum))
		}
		if err == nil {
			err = s.removeRecords(f.URL)
		}
		if err != nil {
			return count, err
		}
	}
	return count, nil
}

// removeRecords removes the records with a URL.
func (s *Store) removeRecords(url string) error {
	names, _ := filepath.Glob(s.cache.path("urls", "*.json"))
	for _, name := range names {
		b, err := regular.Read(name, 1<<16)
		var r record
		if err == nil && json.Unmarshal(b, &r) == nil && r.URL == url {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}
