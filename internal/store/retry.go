package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// transient is an error of a request that may succeed if it is repeated.
type transient struct {
	err   error
	after time.Duration // wait that the server requests; 0: unknown
}

// Error implements error.
func (t *transient) Error() string { return t.err.Error() }

// Unwrap returns the error itself.
func (t *transient) Unwrap() error { return t.err }

// longestPause is the longest time that a server may ask to wait.
const longestPause = 5 * time.Minute

// firstPause is the time before the second attempt; it is doubled with each attempt.
var firstPause = 500 * time.Millisecond

// final is an error after the last attempt. Callers do not try again.
type final struct{ error }

// Unwrap returns the error itself.
func (f *final) Unwrap() error { return f.error }

// retry calls f until it succeeds or returns an error that is not transient, a few times at most. No other
// function repeats requests, except for downloads, which continue where they ended.
func (s *Store) retry(ctx context.Context, url string, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if s.pause(ctx, url, n, err) {
			continue
		}
		var t *transient
		if errors.As(err, &t) {
			return &final{err}
		}
		return err
	}
}

// pause waits before another attempt after attempt number n, and reports whether there is one.
func (s *Store) pause(ctx context.Context, url string, n int, err error) bool {
	var t *transient
	var last *final
	if !errors.As(err, &t) || errors.As(err, &last) || n >= attempts || ctx.Err() != nil {
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
	return s.sleep(ctx, wait) == nil
}

// isTransient reports whether a server that answers with an HTTP status may answer differently later.
func isTransient(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// answer describes the newest response to a request that was made with a context of withAnswer. The
// clients of S3 and of registries do not return all of it.
type answer struct {
	mu         sync.Mutex
	after      time.Duration // time to wait, from Retry-After
	generation string        // generation of a file of Google Cloud Storage
	failure    error         // error of the network; nil if there is a response
}

type answerKey struct{}

// withAnswer returns a context for requests that note headers of their responses.
func withAnswer(ctx context.Context) context.Context {
	return context.WithValue(ctx, answerKey{}, &answer{})
}

// answerOf returns the headers that were noted.
func answerOf(ctx context.Context) (delay time.Duration, generation string) {
	a, ok := ctx.Value(answerKey{}).(*answer)
	if !ok {
		return 0, ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.after, a.generation
}

// failureOf returns the error of the network that was noted, or err without one.
func failureOf(ctx context.Context, err error) error {
	a, ok := ctx.Value(answerKey{}).(*answer)
	if !ok {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return cmp.Or(a.failure, err)
}

// noting is a transport that notes responses for withAnswer.
type noting struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *noting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	a, ok := r.Context().Value(answerKey{}).(*answer)
	if !ok {
		return response, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failure = err; err == nil {
		a.after = retryAfter(response.Header.Get("Retry-After"))
		a.generation = response.Header.Get("X-Goog-Generation")
	}
	return response, err
}

// transientError turns temporary errors of the network into *transient, unless ctx has ended.
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
