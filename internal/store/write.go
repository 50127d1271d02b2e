package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// Writable implements regular.Remote.
func (s *Store) Writable(url string) error {
	from, source, err := s.serverOf(url)
	if err != nil {
		return err
	}
	if s.o.Offline {
		return problem.Advise("write to a file, or leave {offline} and BNCTL_OFFLINE off",
			"%s cannot be written offline", Redact(url))
	}
	return s.probe(s.ctx, url, from, source.URL)
}

func (s *Store) probe(ctx context.Context, url string, srv server, target string) error {
	return s.retry(ctx, url, func() error { return srv.probe(ctx, target) })
}

// Write implements regular.Remote. The file is complete on this machine before it is sent. It is also
// sent after the Store's context has ended: a training that is stopped writes its checkpoint.
func (s *Store) Write(url string, write func(io.Writer) error) error {
	from, source, err := s.serverOf(url)
	if err != nil {
		return err
	}
	ctx := context.WithoutCancel(s.ctx)
	if s.o.Offline {
		return s.Writable(url)
	}
	if err := s.probe(ctx, url, from, source.URL); err != nil {
		return err
	}
	file := s.cache.path("staging", keyOf(url), fileName(Redact(url)))
	if err := s.cache.make(file); err != nil {
		return err
	}
	unlock, err := s.lock(keyOf(url, "write"), Redact(url))
	if err != nil {
		return err
	}
	defer unlock()
	defer os.Remove(file)
	sum := sha256.New()
	err = regular.WriteFile(file, 0o600, func(w io.Writer) error { return write(io.MultiWriter(w, sum)) })
	if err != nil {
		return s.cache.explained(err)
	}
	u := &upload{path: file, sum: hex.EncodeToString(sum.Sum(nil)), id: rand.Text()}
	err = s.send(ctx, url, from, source.URL, u)
	if errors.Is(err, errTaken) {
		return err
	}
	if err != nil {
		return fmt.Errorf("writing %w; the file there is unchanged", err)
	}
	s.forget(url)
	return nil
}

// errTaken is wrapped by the error about a locked file that a program on another machine has written.
var errTaken = errors.New("another program has written it since this one began; its file is unchanged")

// send uploads a file. A file that Lock has locked is replaced only if its version is the one that this
// Store knows. So if two machines write one file, one of them gets errTaken. Servers without conditions are
// asked for the version before the upload.
func (s *Store) send(ctx context.Context, url string, srv server, target string, u *upload) error {
	known, isLocked := s.lockedVersion(url)
	if !isLocked {
		return s.retry(ctx, url, func() error {
			_, err := srv.put(ctx, target, u)
			return err
		})
	}
	u.etag = &known
	sent, version := false, ""
	err := s.retry(ctx, url, func() error {
		now, err := s.versionOf(ctx, srv, target)
		if err == nil && now.version != known {
			err = errChanged
		}
		if err == nil {
			sent = true
			version, err = srv.put(ctx, target, u)
		}
		return err
	})
	if errors.Is(err, errChanged) {
		now, failed := s.askVersion(ctx, url, srv, target)
		// An upload may have succeeded although its answer is an error: then the next attempt finds the file.
		isOurs := failed == nil && sent && (now.upload == u.id || now.upload == "" && now.sum == u.sum)
		if !isOurs {
			return problem.Advise("let one of them run, or name another file", "%s: %w", Redact(url), errTaken)
		}
		version, err = now.version, nil
	}
	if err != nil {
		return err
	}
	// For an upload in parts, some servers return an ETag that differs from the ETag of the stored file.
	if now, err := s.askVersion(ctx, url, srv, target); err == nil && now.upload == u.id {
		version = now.version
	}
	s.setLocked(url, version)
	return nil
}

// versionOf returns the file at a URL; the object has no ETag without a file.
func (s *Store) versionOf(ctx context.Context, srv server, url string) (*object, error) {
	o, err := srv.stat(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return &object{}, nil
	}
	return o, err
}

// askVersion does the same as versionOf, with several attempts.
func (s *Store) askVersion(ctx context.Context, url string, srv server, target string) (o *object,
	err error) {
	err = s.retry(ctx, url, func() error {
		o, err = s.versionOf(ctx, srv, target)
		return err
	})
	return o, err
}

func (s *Store) lockedVersion(url string) (version string, isLocked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, isLocked = s.locked[url]
	return version, isLocked
}

func (s *Store) setLocked(url, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked[url] = version
}

// Lock implements regular.Remote. Other programs on this machine cannot lock url afterwards. Programs on
// other machines can lock it, too; one of the programs then gets an error when it writes the file.
func (s *Store) Lock(url string) (unlock func(), err error) {
	file := s.cache.path("locks", keyOf(url, "owner"))
	if err := s.cache.make(file); err != nil {
		return nil, err
	}
	release, err := regular.Lock(file)
	if errors.Is(err, problem.ErrLocked) {
		return nil, problem.Advise("wait for it, or name another file", "%s: %w", Redact(url), problem.ErrLocked)
	}
	if err != nil {
		return nil, s.cache.explained(err)
	}
	if err := s.noteVersion(url); err != nil {
		release()
		return nil, err
	}
	return func() {
		s.mu.Lock()
		delete(s.locked, url)
		s.mu.Unlock()
		release()
	}, nil
}

// noteVersion notes which version of a file is replaced by the next Write.
func (s *Store) noteVersion(url string) error {
	from, source, err := s.serverOf(url)
	if err != nil || s.o.Offline {
		return err // Write will return the error
	}
	now, err := s.askVersion(context.WithoutCancel(s.ctx), url, from, source.URL)
	if err == nil {
		s.setLocked(url, now.version)
	}
	return err
}
