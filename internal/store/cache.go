package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// cache is a folder with the files that were fetched:
//
//	content/SUM/NAME   files by their SHA-256
//	urls/KEY.json      the newest file of each URL
//	partial/KEY        downloads that are not complete
//	folders/KEY/NAME   folders, of links to content
//	objects/KK/KEY     the files of data sources
//	locks, staging
//
// A KEY is the SHA-256 of a URL, so that no URL leads out of the folder.
type cache struct{ folder string }

// record describes the file at a URL.
type record struct {
	URL     string    `json:"url"` // URL without credentials
	Name    string    `json:"name"`
	Sum     string    `json:"sha256"`
	Size    int64     `json:"size"`
	ETag    string    `json:"etag,omitempty"`
	Fixed   bool      `json:"fixed,omitempty"` // the URL always has this content
	Fetched time.Time `json:"fetched"`
	Missing bool      `json:"missing,omitempty"` // the hub has no such file
	Folder  bool      `json:"folder,omitempty"`  // folders/KEY is complete
}

// keyOf returns the key of texts.
func keyOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return hex.EncodeToString(sum[:])
}

func (c cache) path(names ...string) string {
	return filepath.Join(append([]string{c.folder}, names...)...)
}

// make creates the folder of a file.
func (c cache) make(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return c.explained(err)
	}
	return nil
}

// explained adds advice to an error of the cache's file system.
func (c cache) explained(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return problem.Advise("free some, as with models cache remove, or set BNCTL_CACHE to a folder with more",
			"there is no space left for the cache in %s: %w", c.folder, reasonOf(err))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return problem.Advise("set BNCTL_CACHE to a folder that can be written",
			"the cache in %s cannot be written: %w", c.folder, reasonOf(err))
	}
	return err
}

// reasonOf returns an error without its path.
func reasonOf(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// read returns the record of a URL, which is empty if the cache has no record of it.
func (c cache) read(url string) (r record) {
	b, err := regular.Read(c.path("urls", keyOf(url)+".json"), 1<<16)
	if err != nil || json.Unmarshal(b, &r) != nil {
		return record{}
	}
	return r
}

// isMissing reports whether the hub had no file at a URL when it was asked last.
func (c cache) isMissing(url string) bool { return c.read(url).Missing }

// isComplete reports whether the folder at a URL was fetched whole.
func (c cache) isComplete(url string) bool { return c.read(url).Folder }

// lookup returns the record of the file at a URL, or nil.
func (c cache) lookup(url string) *record {
	r := c.read(url)
	if !isSum(r.Sum) || r.Name != fileName(r.Name) {
		return nil
	}
	return &r
}

// isSum reports whether text is a SHA-256 in hexadecimal.
func isSum(text string) bool { return len(text) == 2*sha256.Size && isDigits(text) }

func isDigits(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// keep writes the record of a URL.
func (c cache) keep(url string, r record) error {
	file := c.path("urls", keyOf(url)+".json")
	if err := c.make(file); err != nil {
		return err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = regular.WriteFile(file, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	return c.explained(err)
}

// content returns the path of the content with a sum, under a name; "" if it is absent or damaged.
// A damaged file is removed.
func (c cache) content(sum, name string) string {
	folder := c.path("content", sum)
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) == 0 {
		return ""
	}
	path := filepath.Join(folder, name)
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
		if link(filepath.Join(folder, entries[0].Name()), path) != nil {
			return ""
		}
	}
	if now, err := sumOf(path); err != nil || now != sum {
		os.RemoveAll(folder)
		return ""
	}
	return path
}

// link gives a file another name. It copies the file if the file system has no links.
func link(oldName, newName string) error {
	err := os.Link(oldName, newName)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	f, err := os.Open(oldName)
	if err != nil {
		return err
	}
	defer f.Close()
	return regular.WriteFile(newName, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

func sumOf(path string) (string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// matches reports whether a sum begins with the expected digits; "" matches any sum.
func matches(sum, expected string) bool { return strings.HasPrefix(sum, strings.ToLower(expected)) }
