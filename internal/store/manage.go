package store

import (
	"encoding/json"
	"errors"
	"iter"
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

// records returns the records of the cache, and the paths of their files. Those that are damaged are left
// out.
func (c cache) records() iter.Seq2[string, *record] {
	return func(yield func(string, *record) bool) {
		names, _ := filepath.Glob(c.path("urls", "*.json"))
		for _, name := range names {
			b, err := regular.Read(name, 1<<16)
			r := &record{}
			if err != nil || json.Unmarshal(b, r) != nil {
				continue
			}
			if isFile := isSum(r.Sum) && r.Name == fileName(r.Name); !isFile && !r.Folder && !r.Missing {
				continue
			}
			if !yield(name, r) {
				return
			}
		}
	}
}

// Cached returns the files in the cache in the order of their URLs, and the bytes of everything else
// in it: files of data sources, and downloads that are not complete.
func (s *Store) Cached() (files []Cached, rest int64, err error) {
	for _, r := range s.cache.records() {
		if r.Sum != "" {
			files = append(files, Cached{URL: r.URL, Sum: r.Sum, Size: r.Size, Fetched: r.Fetched,
				Path: s.cache.path("content", r.Sum, r.Name)})
		}
	}
	slices.SortFunc(files, func(a, b Cached) int { return strings.Compare(a.URL, b.URL) })
	for _, folder := range []string{"objects", "partial", "staging"} {
		size, err := sizeOf(s.cache.path(folder))
		if err != nil {
			return nil, 0, err
		}
		rest += size
	}
	return files, rest, nil
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

// Remove removes files from the cache: the file at a URL, the files below a folder, a content by its sum, or
// all of them if the text is "all". It returns the number of removed URLs.
func (s *Store) Remove(text string) (count int, err error) {
	if text == "all" {
		files, _, err := s.Cached()
		for _, folder := range []string{"content", "urls", "partial", "folders", "objects", "staging", "locks"} {
			err = errors.Join(err, os.RemoveAll(s.cache.path(folder)))
		}
		return len(files), err
	}
	removed, retained := map[string]bool{}, map[string]bool{}
	for file, r := range s.cache.records() {
		if isNamed := s.isBelow(r.URL, text) || r.Sum == text && text != ""; !isNamed {
			retained[r.Sum] = true
			continue
		}
		if r.Sum != "" {
			removed[r.Sum] = true
			count++
		}
		err = errors.Join(err, os.Remove(file), os.RemoveAll(s.cache.path("folders", keyOf(r.URL, "file"))))
		if r.Folder {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(s.folderPath(r.URL))))
		}
	}
	for sum := range removed {
		if !retained[sum] {
			err = errors.Join(err, os.RemoveAll(s.cache.path("content", sum)))
		}
	}
	return count, err
}

// isBelow reports whether name is the name of a URL, or of its folder, repository or artifact.
func (s *Store) isBelow(url, name string) bool {
	name = strings.TrimRight(Redact(name), "/")
	if url == name {
		return true
	}
	rest, ok := strings.CutPrefix(url, name)
	return ok && forms[s.schemeOf(name)] != "" && (rest[0] == '/' || rest[0] == '#')
}

// lookup returns the record of a URL, or nil.
func (s *Store) lookup(url string) *record { return s.cache.lookup(s.unsigned(url)) }
