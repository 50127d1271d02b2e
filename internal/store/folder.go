package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// maxFolderFiles is the maximum number of files of a folder that Local fetches: models have only a
// few. The folders of data sources are read file by file, and may have any number.
const maxFolderFiles = 10_000

// folderPath returns the path of the local copy of a folder.
func (s *Store) folderPath(url string) string {
	url = strings.TrimRight(url, "/")
	return s.cache.path("folders", keyOf(url), fileName(Redact(url)))
}

// offlineFolder returns the local copy of a folder that may be used without asking the server, or "".
func (s *Store) offlineFolder(url string) string {
	path := s.folderPath(url)
	info, err := os.Stat(path)
	if !s.o.Offline || err != nil || !info.IsDir() || !s.cache.isComplete(strings.TrimRight(url, "/")) {
		return ""
	}
	return path
}

// localFolder fetches the folder at a URL. missing is the error of stat for the URL. A folder of
// one file that its server has chosen is that file.
func (s *Store) localFolder(url string, missing error) (string, error) {
	if !errors.Is(missing, fs.ErrNotExist) {
		return "", missing
	}
	from, source, err := s.serverOf(url)
	if err != nil {
		return "", err
	}
	if from == s.web {
		return "", missing // web servers have no folders, so the file is missing
	}
	files := map[string]*object{}
	err = from.list(s.ctx, source.URL, func(name string, o *object) bool {
		o.srv = from
		files[name] = o
		return len(files) <= maxFolderFiles
	})
	switch {
	case err != nil:
		return "", err
	case len(files) == 0:
		return "", missing
	case len(files) > maxFolderFiles:
		return "", problem.Advise("name one of its files",
			"%s: the folder has more than %d files", Redact(url), maxFolderFiles)
	}
	if _, chosen := from.(*hub); chosen && len(files) == 1 {
		for name, o := range files {
			o.url = Redact(strings.TrimRight(url, "/")) + "/" + name
			path, err := s.fetch(url, o)
			return path, err
		}
	}
	return s.fetchFolder(url, files)
}

// checkBucket refuses a bucket in place of a file or folder: a bucket may have any contents.
func (s *Store) checkBucket(url string) error {
	if scheme := s.schemeOf(url); scheme != "s3" && scheme != "gs" {
		return nil
	}
	if _, key, err := splitBucket(url); err != nil || key != "" {
		return nil // the caller gets this error in another way
	}
	const names, files = 5, 1000 // at most so many names in the text, and files that are counted
	var has []string
	n := 0
	for f, err := range s.Files(url) {
		if err != nil {
			return err
		}
		name, _, folder := strings.Cut(f.Name, "/")
		if folder {
			name += "/"
		}
		if !slices.Contains(has, name) {
			has = append(has, name)
		}
		if n++; len(has) == names || n == files {
			has = append(has, "and perhaps more")
			break
		}
	}
	if has == nil {
		has = []string{"nothing"}
	}
	return problem.Advise("name a file or a folder in it",
		"%s is a bucket, which is not fetched whole; it has %s", Redact(url), strings.Join(has, ", "))
}

// fetchFolder fetches files into the local copy of a folder.
func (s *Store) fetchFolder(url string, files map[string]*object) (string, error) {
	folder := s.folderPath(url)
	for name := range files {
		if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00") {
			return "", problem.Advise("name a file", "%s: the name %.80q leads out of the folder", Redact(url), name)
		}
	}
	unlock, err := s.lock(keyOf(url), Redact(url))
	if err != nil {
		return "", err
	}
	defer unlock()
	var wait sync.WaitGroup
	var mu sync.Mutex
	var first error
	slots := make(chan struct{}, 8)
	for name, o := range files {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			err := s.fetchInto(folder, strings.TrimRight(url, "/")+"/"+name, name, o)
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = err
			}
		})
	}
	wait.Wait()
	if first != nil {
		return "", first
	}
	if err := s.removeOthers(folder, files); err != nil {
		return "", err
	}
	url = strings.TrimRight(url, "/")
	return folder, s.cache.keep(url, record{URL: Redact(url), Folder: true, Fetched: time.Now().UTC()})
}

func (s *Store) fetchInto(folder, url, name string, o *object) error {
	o.url = Redact(url)
	to := filepath.Join(folder, filepath.FromSlash(name))
	if s.isMirrored(to, o.etag) {
		return nil
	}
	known, path := s.lookup(url), ""
	if known != nil && o.etag != "" && known.ETag == o.etag {
		path = s.cached(url, known)
	}
	if path == "" {
		var err error
		if path, err = s.fetch(url, o); err != nil {
			return err
		}
	}
	if err := s.cache.make(to); err != nil {
		return err
	}
	was, err1 := os.Stat(to)
	now, err2 := os.Stat(path)
	if err1 == nil && err2 == nil && os.SameFile(was, now) {
		s.setMirrored(to, o.etag)
		return nil
	}
	// A new name is renamed over the old, so that a reader sees one of the two files.
	next := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+".next")
	os.Remove(next)
	if err := link(path, next); err != nil {
		return s.cache.explained(err)
	}
	if err := os.Rename(next, to); err != nil {
		return err
	}
	s.setMirrored(to, o.etag)
	return nil
}

// isMirrored reports whether setMirrored recorded that the file at a path has an ETag.
func (s *Store) isMirrored(path, etag string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := os.Stat(path)
	return err == nil && etag != "" && s.mirrored[path] == etag
}

func (s *Store) setMirrored(path, etag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mirrored[path] = etag
}

// removeOthers removes the files of a folder that the server does not have.
func (s *Store) removeOthers(folder string, files map[string]*object) error {
	return filepath.WalkDir(folder, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil || files[filepath.ToSlash(name)] != nil {
			return err
		}
		return os.Remove(file)
	})
}
