package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// Local implements regular.Remote. For a folder it fetches all files.
func (s *Store) Local(url string) (string, error) {
	s.mu.Lock()
	p := s.pins[url]
	if p == nil {
		p = &pin{}
		s.pins[url] = p
	}
	s.mu.Unlock()
	p.once.Do(func() {
		if p.path, p.err = s.local(url); p.err == nil {
			s.show(p.path, url)
		}
	})
	return p.path, p.err
}

// show lets Printed write the name of a URL in place of the path of its local copy.
func (s *Store) show(path, url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printed[path] = strings.TrimRight(Redact(url), "/")
}

// Printed returns a message with URLs in place of the paths of their local copies.
func (s *Store) Printed(text string) string {
	if !strings.Contains(text, s.cache.folder) {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, name := range s.printed {
		text = strings.ReplaceAll(text, path, name)
	}
	return text
}

// forget makes Local ask the server again about a URL.
func (s *Store) forget(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pins, url)
}

func (s *Store) local(url string) (string, error) {
	known := s.lookup(url)
	if known != nil && (known.Fixed || s.o.Offline) {
		if path := s.cached(url, known); path != "" {
			return path, nil
		}
	}
	if path := s.offlineFolder(url); path != "" {
		return path, nil
	}
	if s.o.Offline && s.cache.isMissing(s.unsigned(url)) {
		return "", fmt.Errorf("%s: %w", Redact(url), fs.ErrNotExist)
	}
	o, err := s.stat(url)
	if err != nil {
		if err := s.checkBucket(url); err != nil {
			return "", err
		}
		path, err := s.localFolder(url, err)
		if s.schemeOf(url) == "hf" && errors.Is(err, fs.ErrNotExist) {
			err = errors.Join(err, s.cache.keep(s.unsigned(url), record{URL: Redact(url), Missing: true}))
		}
		return path, err
	}
	if known != nil && o.etag != "" && o.etag == known.ETag && matches(known.Sum, o.sum) {
		if path := s.cached(url, known); path != "" {
			return path, nil
		}
	}
	return s.fetch(url, o)
}

// cached returns the content of a record. It returns "" if the content is missing or has another sum.
func (s *Store) cached(url string, r *record) string {
	if _, source, err := s.serverOf(url); err != nil || !matches(r.Sum, source.Sum) {
		return ""
	}
	return s.cache.content(r.Sum, r.Name)
}

// fetch returns the content of an object. If another process is fetching the object, fetch waits for
// it.
func (s *Store) fetch(url string, o *object) (string, error) {
	key := keyOf(s.unsigned(url), o.etag)
	unlock, err := s.lock(key, o.url)
	if err != nil {
		return "", err
	}
	defer unlock()
	name := fileName(o.url)
	if isSum(o.sum) {
		if path := s.cache.content(o.sum, name); path != "" {
			return path, s.remember(url, o, o.sum, name)
		}
	} else if known := s.lookup(url); known != nil && o.etag != "" && known.ETag == o.etag {
		if path := s.cached(url, known); path != "" {
			return path, nil
		}
	}
	partial := s.cache.path("partial", key)
	sum, err := s.download(o, partial)
	if err != nil {
		return "", withURL(url, err)
	}
	path := s.cache.path("content", sum, name)
	if err := s.cache.make(path); err != nil {
		return "", err
	}
	if err := os.Rename(partial, path); err != nil {
		return "", s.cache.explained(err)
	}
	return path, s.remember(url, o, sum, name)
}

func (s *Store) remember(url string, o *object, sum, name string) error {
	info, err := os.Stat(s.cache.path("content", sum, name))
	if err != nil {
		return err
	}
	fixed := o.fixed || o.sum != "" && s.o.Names[s.schemeOf(url)] != nil
	return s.cache.keep(s.unsigned(url), record{URL: o.url, Name: name, Sum: sum, Size: info.Size(),
		ETag: o.etag, Fixed: fixed, Fetched: time.Now().UTC()})
}

// lock waits until no other process fetches the same file.
func (s *Store) lock(key, url string) (unlock func(), err error) {
	file := s.cache.path("locks", key)
	if err := s.cache.make(file); err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		unlock, err = regular.Lock(file)
		if !errors.Is(err, problem.ErrLocked) {
			return unlock, s.cache.explained(err)
		}
		if n == 20 {
			s.o.note("%s is being fetched by another process; waiting for it", url)
		}
		if err := sleep(s.ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// download completes the file at partial, and returns its sum. Bytes from an earlier attempt or
// process are not fetched again. A file with a wrong sum is removed.
func (s *Store) download(o *object, partial string) (string, error) {
	if err := s.cache.make(partial); err != nil {
		return "", err
	}
	f, err := os.OpenFile(partial, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", s.cache.explained(err)
	}
	defer f.Close()
	sum, err := s.complete(o, f)
	if err == nil && !matches(sum, o.sum) {
		err = problem.Advise("fetch it again; if it stays so, the file was replaced on the server",
			"the file has the SHA-256 %s, and %s was expected; nothing was kept", sum, o.sum)
		o.damaged = true
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil && (o.damaged || errors.Is(err, errChanged) || !resumable(o)) || isFull(err) {
		os.Remove(partial)
	}
	return sum, s.cache.explained(err)
}

// resumable reports whether a later request can be checked to continue the same file.
func resumable(o *object) bool { return o.etag != "" || o.sum != "" }

// complete appends the missing bytes to f.
func (s *Store) complete(o *object, f *os.File) (string, error) {
	h := sha256.New()
	have, err := io.Copy(h, f)
	if err != nil {
		return "", err
	}
	if o.size >= 0 && have > o.size || !resumable(o) {
		if have, err = restart(f, 0); err != nil {
			return "", err
		}
		h.Reset()
	}
	bar := newBar(s, o, have)
	defer bar.end()
	for n := 1; o.size < 0 || have < o.size || have == 0; n++ {
		before := have
		have, err = s.append(o, f, have, io.MultiWriter(h, bar), h.Reset)
		if err == nil && (o.size < 0 || have >= o.size) {
			break
		}
		if err == nil {
			err = &transient{errCut, 0}
		}
		if have > before {
			n = 1 // there is progress, so count the attempts again
		}
		if !s.pause(s.ctx, o.url, n, err) {
			return "", err
		}
	}
	if o.size >= 0 && have != o.size {
		return "", fmt.Errorf("it has %s, and %d were announced", problem.Plural(int(have), "byte"), o.size)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// restart truncates f to a length, and returns the length.
func restart(f *os.File, length int64) (int64, error) {
	if err := f.Truncate(length); err != nil {
		return 0, err
	}
	return f.Seek(length, io.SeekStart)
}

// append adds the content after the first have bytes to f and to w. It returns the new length of f.
func (s *Store) append(o *object, f *os.File, have int64, w io.Writer, reset func()) (int64, error) {
	ctx, read, stop := s.newPatient(s.ctx)
	defer stop()
	p, err := o.srv.open(ctx, o, have)
	if err != nil {
		return have, s.stalled(ctx, err)
	}
	defer p.Close()
	if p.start != have {
		if p.start != 0 {
			return have, fmt.Errorf("the server sends from byte %d on instead of %d", p.start, have)
		}
		if have, err = restart(f, 0); err != nil {
			return 0, err
		}
		reset()
	}
	var limited io.Reader = read(p)
	if o.size >= 0 {
		limited = io.LimitReader(limited, o.size-have+1)
	}
	n, err := copyTo(io.MultiWriter(f, w), limited)
	return have + n, s.stalled(ctx, err)
}

// stalled returns the reason of an error of a request, as a *transient if a later attempt may
// succeed.
func (s *Store) stalled(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case context.Cause(ctx) == errStalled:
		return &transient{s.slow(), 0}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	var w *writeError
	if errors.As(err, &w) {
		return w.err
	}
	var t *transient
	if errors.As(err, &t) {
		return err
	}
	return s.transientError(ctx, withoutURL(err))
}

// writeError is an error of the disk, not of the network.
type writeError struct{ err error }

// Error implements error.
func (e *writeError) Error() string { return e.err.Error() }

// copyTo copies r to w. Errors of w are *writeError.
func copyTo(w io.Writer, r io.Reader) (n int64, err error) {
	b := make([]byte, 256<<10)
	for {
		k, err := r.Read(b)
		if k > 0 {
			if _, err := w.Write(b[:k]); err != nil {
				return n, &writeError{err}
			}
			n += int64(k)
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// Pull fetches the file or folder at a URL, and returns its path and its sum. A folder has no sum.
func (s *Store) Pull(url string) (path, sum string, err error) {
	if path, err = s.Local(url); err != nil {
		return "", "", err
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return path, "", err
	}
	return path, filepath.Base(filepath.Dir(path)), nil
}
