package store

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/internal/regular"
)

// ahead reads the files of data sources. Each file is stored in the cache when it is first read.
type ahead struct {
	mu    sync.Mutex
	slots chan struct{} // one slot for each of the parallelReads
	// waiting limits the reads that are started before they are needed.
	waiting chan struct{}
	calls   map[string]*objectCall // reads in progress, by key
	full    bool                   // the cache has no space left
}

// objectCall is a read in progress.
type objectCall struct {
	done    chan struct{}
	content []byte
	err     error
}

// Files implements regular.Remote.
func (s *Store) Files(url string) iter.Seq2[regular.RemoteFile, error] {
	return func(yield func(regular.RemoteFile, error) bool) {
		if folder := s.offlineFolder(url); folder != "" {
			s.localFiles(folder, yield)
			return
		}
		from, source, err := s.serverOf(url)
		if err == nil {
			err = s.checkOnline(url)
		}
		more := true
		if err == nil {
			err = from.list(s.ctx, source.URL, func(name string, o *object) bool {
				o.srv, o.url = from, Redact(strings.TrimRight(url, "/"))+"/"+name
				more = yield(s.file(name, o), nil)
				return more
			})
		}
		if err != nil && more {
			yield(regular.RemoteFile{}, err)
		}
	}
}

// localFiles calls yield for the files of the local copy of a folder, in the order of Files.
func (s *Store) localFiles(folder string, yield func(regular.RemoteFile, error) bool) {
	var files []regular.RemoteFile
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		files = append(files, regular.RemoteFile{Name: filepath.ToSlash(name), Size: info.Size(),
			Read: func() ([]byte, error) { return regular.Read(path, info.Size()) }, ReadAhead: func() {}})
		return err
	})
	if err != nil {
		yield(regular.RemoteFile{}, err)
		return
	}
	slices.SortFunc(files, func(a, b regular.RemoteFile) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range files {
		if !yield(f, nil) {
			return
		}
	}
}

// file returns an object as a file of a folder.
func (s *Store) file(name string, o *object) regular.RemoteFile {
	return regular.RemoteFile{Name: name, Size: o.size,
		Read:      func() ([]byte, error) { return s.readObject(o) },
		ReadAhead: func() { s.startRead(o) }}
}

// startRead starts to read an object that is not in the cache. It waits while parallelReads objects
// are being read.
func (s *Store) startRead(o *object) {
	key := keyOf(o.url, o.etag, fmt.Sprint(o.size))
	if _, err := os.Stat(s.cache.path("objects", key[:2], key)); err == nil {
		return
	}
	select {
	case s.ahead.waiting <- struct{}{}:
	case <-s.ctx.Done():
		return
	}
	go func() {
		defer func() { <-s.ahead.waiting }()
		s.readObject(o) //nolint:errcheck // the reader of the file gets the error
	}()
}

// readObject returns the content of an object, from the cache or from its server.
func (s *Store) readObject(o *object) ([]byte, error) {
	key := keyOf(o.url, o.etag, fmt.Sprint(o.size))
	file := s.cache.path("objects", key[:2], key)
	if content, err := regular.Read(file, o.size); err == nil && int64(len(content)) == o.size && o.etag != "" {
		return content, nil
	}
	a := &s.ahead
	a.mu.Lock()
	call := a.calls[key]
	if call != nil {
		a.mu.Unlock()
		<-call.done
		return call.content, call.err
	}
	call = &objectCall{done: make(chan struct{})}
	a.calls[key] = call
	a.mu.Unlock()
	a.slots <- struct{}{}
	call.content, call.err = s.readAll(o)
	<-a.slots
	if call.err == nil && o.etag != "" {
		s.keepObject(file, call.content)
	}
	a.mu.Lock()
	delete(a.calls, key)
	a.mu.Unlock()
	close(call.done)
	return call.content, call.err
}

// keepObject stores the content of an object in the cache. Without space for it the file is read from
// the server again when it is needed.
func (s *Store) keepObject(file string, content []byte) {
	a := &s.ahead
	a.mu.Lock()
	full := a.full
	a.mu.Unlock()
	if full {
		return
	}
	err := s.cache.make(file)
	if err == nil {
		err = writeWhole(file, content)
	}
	if err == nil {
		return
	}
	a.mu.Lock()
	first := !a.full
	a.full = true
	a.mu.Unlock()
	if first {
		s.o.note("files are read again in each epoch: %v", s.cache.explained(err))
	}
}

// writeWhole writes a file under its name when it is complete. It need not survive a crash.
func writeWhole(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
