package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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
	return from.probe(s.ctx, source.URL)
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
	if err := from.probe(ctx, source.URL); err != nil {
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
	err = s.retry(ctx, url, func() error {
		return from.put(ctx, source.URL, file, hex.EncodeToString(sum.Sum(nil)))
	})
	if err != nil {
		return fmt.Errorf("writing %w; the file there is unchanged", err)
	}
	s.forget(url)
	return nil
}

// Lock implements regular.Remote.
func (s *Store) Lock(url string) (unlock func(), err error) {
	file := s.cache.path("locks", keyOf(url, "owner"))
	if err := s.cache.make(file); err != nil {
		return nil, err
	}
	unlock, err = regular.Lock(file)
	if errors.Is(err, problem.ErrLocked) {
		return nil, problem.Advise("wait for it, or name another file", "%s: %w", Redact(url), problem.ErrLocked)
	}
	return unlock, err
}
