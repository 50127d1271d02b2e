package store

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// transient is an error that may go away.
type transient struct {
	err   error
	after time.Duration // how long the server asks to wait; 0: unknown
}

// Error implements error.
func (t *transient) Error() string { return t.err.Error() }

// Unwrap returns the error itself.
func (t *transient) Unwrap() error { return t.err }

// longestPause is the longest time that a server may ask to wait.
const longestPause = 5 * time.Minute

// firstPause is the time before the second attempt; it is doubled with each attempt.
var firstPause = 500 * time.Millisecond

// retry calls f until it succeeds, or returns an error that stays, a few times at most.
func (s *Store) retry(ctx context.Context, url string, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if !s.pause(ctx, url, n, err) {
			return err
		}
	}
}

// pause waits before another attempt after attempt number n, and reports whether there is one.
func (s *Store) pause(ctx context.Context, url string, n int, err error) bool {
	var t *transient
	if !errors.As(err, &t) || n >= attempts || ctx.Err() != nil {
		return false
	}
	wait := firstPause << (n - 1)
	if t.after > 0 {
		wait = t.after
	}
	if wait > longestPause {
		return false
	}
	s.o.note("%s: %v; attempt %d of %d in %s", Redact(url), t.err, n+1, attempts, wait.Round(time.Millisecond))
	return sleep(ctx, wait) == nil
}

// transientError makes errors of the network transient, unless ctx has ended.
func (s *Store) transientError(ctx context.Context, err error) error {
	var timeout net.Error
	var unknown *net.DNSError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return err
	case errors.As(err, &timeout) && timeout.Timeout():
		return &transient{s.slow(), 0}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, errCut), errors.Is(err, syscall.ECONNREFUSED):
		return &transient{err, 0}
	}
	return err
}

// slow returns the error about a server that sends nothing.
func (s *Store) slow() error {
	return problem.Advise("set {store-timeout} to more seconds if the server is slow",
		"the server has sent nothing for %s", s.o.Timeout)
}
